#include "cli/commands/roofline/power_command.h"

#include <doctest/doctest.h>
#include <sys/ioctl.h>
#include <sys/stat.h>

#include <fstream>
#include <sstream>

#include "tests/support/error_text.h"
#include "tests/support/program.h"
#include "tests/support/temp_dir.h"

namespace gputrace {
namespace {

using commands::PowerCommand;
using commands::PowerSetter;

std::string text_of(const std::filesystem::path& path) {
  std::ifstream in(path);
  std::stringstream text;
  text << in.rdbuf();
  return text.str();
}

/// A script that writes its arguments and then does `rest`, and a command that runs it.
struct Script {
  explicit Script(const std::string& rest) {
    std::ofstream out(folder.path() / "set");
    out << "#!/bin/sh\necho \"$@\" >> " << log().string() << "\n" << rest << "\n";
    out.close();
    std::filesystem::permissions(folder.path() / "set", std::filesystem::perms::owner_all);
  }
  void open_to_all() const {
    std::ofstream(log()).close();
    for (const auto& path : {folder.path(), folder.path() / "set", log()}) {
      std::filesystem::permissions(path, std::filesystem::perms::all);
    }
  }
  [[nodiscard]] std::filesystem::path log() const { return folder.path() / "log"; }
  [[nodiscard]] PowerSetter setter(std::uint32_t restore = 54) const {
    const auto command = PowerCommand::parse((folder.path() / "set").string() + " 'to {watts}'");
    REQUIRE(command);
    auto setter = PowerSetter::start(*command, restore);
    REQUIRE(setter);
    return std::move(*setter);
  }
  test::TempDir folder;
};

const auto kNever = [] { return false; };

TEST_CASE("the watts are put into words that were cut before") {
  const auto command = PowerCommand::parse("set '--a={watts} b' --c={watts}000 {watts}{watts}");
  REQUIRE(command);
  CHECK(command->words(15) == std::vector<std::string>{"set", "--a=15 b", "--c=15000", "1515"});
  const auto without = PowerCommand::parse("set 15");
  REQUIRE_FALSE(without);
  CHECK(without.error().code == ErrorCode::kUsage);
  CHECK(without.error().message.find("{watts}") != std::string::npos);
  CHECK_FALSE(PowerCommand::parse("set {watts} | tee x").has_value());
}

TEST_CASE("watts are whole numbers that a machine can have") {
  CHECK(commands::parse_watts("15") == 15U);
  CHECK(commands::parse_watts("1000") == 1000U);
  for (const char* text : {"", "0", "1001", "-5", "15.5", "15W", " 15", "15;reboot", "1e3"}) {
    CAPTURE(text);
    CHECK_FALSE(commands::parse_watts(text).has_value());
  }
}

TEST_CASE("each limit is set by one command, and the last one is restored") {
  const Script script("");
  {
    auto setter = script.setter();
    CHECK(setter.set(15, kNever).has_value());
    CHECK(setter.set(25, kNever).has_value());
    CHECK(setter.restore().has_value());
    CHECK(setter.restore().has_value());
  }
  CHECK(text_of(script.log()) == "to 15\nto 25\nto 54\n");
}

TEST_CASE("nothing is executed where no limit was set") {
  const Script script("");
  {
    auto setter = script.setter();
  }
  CHECK_FALSE(std::filesystem::exists(script.log()));
}

TEST_CASE("a setter that is dropped restores, and so does one whose gputrace dies") {
  const Script script("");
  {
    auto setter = script.setter();
    CHECK(setter.set(15, kNever).has_value());
  }
  CHECK(text_of(script.log()) == "to 15\nto 54\n");

  const Script other("");
  test::Pipe alive;  // its other end is closed when the helper has ended, too
  const pid_t child = ::fork();
  if (child == 0) {
    const auto command = PowerCommand::parse((other.folder.path() / "set").string() + " {watts}");
    auto setter = PowerSetter::start(*command, 54);
    const bool set = setter && setter->set(15, kNever);
    ::kill(::getpid(), set ? SIGKILL : SIGTERM);
    ::_exit(1);
  }
  int status = 0;
  REQUIRE(::waitpid(child, &status, 0) == child);
  CHECK(WTERMSIG(status) == SIGKILL);
  alive.write_end.reset();
  char byte = 0;
  CHECK(::read(alive.read_end.get(), &byte, 1) == 0);
  CHECK(text_of(other.log()) == "15\n54\n");
}

TEST_CASE("a command that fails or cannot be executed says why, and the restore still runs") {
  const Script failing("test \"$1\" = 'to 54' || exit 3");
  auto setter = failing.setter();
  const Status failed = setter.set(15, kNever);
  REQUIRE_FALSE(failed);
  CHECK(failed.error().message.find("exit status 3") != std::string::npos);
  CHECK(setter.restore().has_value());
  CHECK(text_of(failing.log()) == "to 15\nto 54\n");

  const auto missing = PowerCommand::parse("/nonexistent/set {watts}");
  REQUIRE(missing);
  auto nobody = PowerSetter::start(*missing, 54);
  REQUIRE(nobody);
  const Status not_started = nobody->set(15, kNever);
  REQUIRE_FALSE(not_started);
  CHECK(not_started.error().message.find("No such file") != std::string::npos);
  CHECK_FALSE(nobody->restore().has_value());
}

TEST_CASE("under sudo commands are executed as the user who called it") {
  if (::geteuid() != 0) {
    MESSAGE("skipped: needs root");
    return;
  }
  const Script script("id -u >> \"$0.log\"");
  script.open_to_all();
  ::setenv("SUDO_UID", "12345", 1);
  ::setenv("SUDO_GID", "12345", 1);
  {
    auto setter = script.setter();
    const Status set = setter.set(15, kNever);
    CHECK_MESSAGE(set, test::error_text(set));
  }
  ::setenv("SUDO_UID", "bob", 1);
  const auto command = PowerCommand::parse("set {watts}");
  REQUIRE(command);
  CHECK_FALSE(PowerSetter::start(*command, 54).has_value());
  ::unsetenv("SUDO_UID");
  ::unsetenv("SUDO_GID");
  CHECK(text_of(script.folder.path() / "set.log") == "12345\n12345\n");
}

TEST_CASE("Ctrl-C ends a command that hangs, and the restore runs after it") {
  const Script hanging("test \"$1\" = 'to 54' || exec tail -f /dev/null");
  auto setter = hanging.setter();
  const Status interrupted = setter.set(15, [&] { return !text_of(hanging.log()).empty(); });
  REQUIRE_FALSE(interrupted);
  CHECK(interrupted.error().code == ErrorCode::kBusy);
  CHECK(setter.restore().has_value());
  CHECK(text_of(hanging.log()) == "to 15\nto 54\n");
}

TEST_CASE("a command that is another user's, as under sudo, is not waited for without end") {
  const std::filesystem::path setpriv = "/usr/bin/setpriv";
  if (::geteuid() != 0 || !std::filesystem::exists(setpriv)) {
    MESSAGE("skipped: needs root and setpriv");
    return;
  }
  const Script script(
      "test \"$1\" = 'to 54' || exec \"$0.root\" --reuid=0 cat \"$0.fifo\" > /dev/null");
  script.open_to_all();
  const std::filesystem::path as_root = script.folder.path() / "set.root";
  std::filesystem::copy_file(setpriv, as_root);
  REQUIRE(::chmod(as_root.c_str(), 04755) == 0);
  const std::filesystem::path fifo = script.folder.path() / "set.fifo";
  REQUIRE(::mkfifo(fifo.c_str(), 0600) == 0);
  const UniqueFd held(::open(fifo.c_str(), O_RDWR | O_CLOEXEC));  // its end ends the command
  REQUIRE(::write(held.get(), "x", 1) == 1);
  const auto is_read = [&] {
    int unread = 0;
    return ::ioctl(held.get(), FIONREAD, &unread) == 0 && unread == 0;
  };
  ::setenv("SUDO_UID", "12345", 1);
  ::setenv("SUDO_GID", "12345", 1);
  auto setter = script.setter();
  ::unsetenv("SUDO_UID");
  ::unsetenv("SUDO_GID");
  CHECK_FALSE(setter.set(15, is_read).has_value());
  const Status restored = setter.restore();
  REQUIRE_FALSE(restored);
  CHECK(restored.error().message.find("could not be stopped") != std::string::npos);
  CHECK(text_of(script.log()) == "to 15\nto 54\n");
}

}  // namespace
}  // namespace gputrace
