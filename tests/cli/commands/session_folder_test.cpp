#include "cli/commands/session_folder.h"

#include <doctest/doctest.h>
#include <sys/stat.h>

#include <fstream>

#include "tests/support/temp_dir.h"

namespace gputrace::commands {
namespace {

using Words = std::vector<std::string>;

void touch(const std::filesystem::path& file) {
  const std::ofstream created(file);
}

TEST_CASE("a session is named after its command, harmlessly, and never twice") {
  const test::TempDir dir;
  const auto name = [&](const Words& command) {
    return default_session_path(dir.path(), command, 1'790'000'000'000'000'000).filename().string();
  };
  CHECK(name(Words{"/usr/bin/vkcube", "--c", "3"}).rfind("vkcube-2026", 0) == 0);
  CHECK(name(Words{"./a b;$(x)\n"}).rfind("a_b___x__-", 0) == 0);
  CHECK(name(Words{".hidden"}).rfind("session.hidden-", 0) == 0);
  CHECK(name({}).rfind("session-", 0) == 0);
  CHECK(name(Words{std::string(300, 'x')}).size() < 100);
  const std::string first = name({});
  touch(dir.path() / first);
  const std::string second = name({});
  CHECK(second == first.substr(0, first.size() - 9) + "-2.gputrace");
}

TEST_CASE("the sessions folder is made private, with its parents") {
  const test::TempDir dir;
  const auto folder = dir.path() / "share/gputrace/sessions";
  REQUIRE(create_sessions_folder(folder));
  REQUIRE(create_sessions_folder(folder));
  struct stat info{};
  REQUIRE(::stat(folder.c_str(), &info) == 0);
  CHECK((info.st_mode & 0777) == 0700);
  touch(dir.path() / "file");
  CHECK_FALSE(create_sessions_folder(dir.path() / "file"));
  CHECK_FALSE(create_sessions_folder(dir.path() / "file/sessions"));
}

TEST_CASE("the newest session is the one written last; without any it says how to make one") {
  const test::TempDir dir;
  const auto none = newest_session(dir.path());
  REQUIRE_FALSE(none);
  CHECK(none.error().code == ErrorCode::kNotFound);
  CHECK(none.error().message.find("gputrace record") != std::string::npos);
  CHECK(newest_session(dir.path() / "missing").error().code == ErrorCode::kNotFound);
  const auto now = std::filesystem::file_time_type::clock::now();
  for (const auto& [name, age] : {std::pair{"old", 100}, {"new", 10}, {"older", 500}}) {
    const auto file = dir.path() / (std::string(name) + ".gputrace");
    touch(file);
    std::filesystem::last_write_time(file, now - std::chrono::seconds(age));
  }
  touch(dir.path() / "newest.txt");
  CHECK(newest_session(dir.path()).value().filename() == "new.gputrace");
}

}  // namespace
}  // namespace gputrace::commands
