#include "daemon/os/service_manager.h"

#include <doctest/doctest.h>
#include <fcntl.h>
#include <fmt/format.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include <array>
#include <cstdlib>
#include <filesystem>
#include <functional>
#include <string>

#include "tests/support/in_child.h"
#include "tests/support/program.h"
#include "tests/support/temp_dir.h"

namespace os = gputrace::os;
using gputrace::LogLevel;
using gputrace::UniqueFd;
using gputrace::test::in_child;
using gputrace::test::Pipe;
using gputrace::test::TempDir;

namespace {

UniqueFd bound_socket(int type, const std::filesystem::path& path) {
  UniqueFd fd(::socket(AF_UNIX, type | SOCK_CLOEXEC, 0));
  sockaddr_un address{};
  address.sun_family = AF_UNIX;
  path.string().copy(static_cast<char*>(address.sun_path), sizeof(address.sun_path) - 1);
  REQUIRE(::bind(fd.get(), reinterpret_cast<sockaddr*>(&address), sizeof(address)) == 0);
  return fd;
}

// What a child that calls `function` under $NOTIFY_SOCKET sends there.
std::string notified(const std::function<void()>& function) {
  const TempDir folder;
  const std::string path = folder.path() / "notify";
  const UniqueFd socket = bound_socket(SOCK_DGRAM, path);
  CHECK(in_child([&] {
          ::setenv("NOTIFY_SOCKET", path.c_str(), 1);
          function();
          return "returned";
        }) == "returned");
  std::array<char, 4096> buffer{};
  // The child has ended: what it sent is here.
  const ssize_t got = ::recv(socket.get(), buffer.data(), buffer.size(), MSG_DONTWAIT);
  return {buffer.data(), static_cast<std::size_t>(std::max<ssize_t>(got, 0))};
}

std::string watchdog(const char* timeout_us, const std::function<std::string()>& pid) {
  return in_child([&] {
    ::setenv("WATCHDOG_USEC", timeout_us, 1);
    ::setenv("WATCHDOG_PID", pid().c_str(), 1);
    const auto interval_ns = os::watchdog_interval_ns();
    return interval_ns ? std::to_string(*interval_ns) : "absent";
  });
}

std::string own_pid() {
  return std::to_string(::getpid());
}

// What sockets_from_service_manager() says in a child that got `fds` as systemd passes them.
std::string activated(const std::vector<int>& fds, const char* count, bool for_another = false) {
  return in_child([&] {
    int number = 3;
    for (const int fd : fds) {
      ::dup2(fd, number++);
    }
    ::setenv("LISTEN_FDS", count, 1);
    ::setenv("LISTEN_PID", for_another ? "1" : own_pid().c_str(), 1);
    const auto sockets = os::sockets_from_service_manager();
    if (!sockets) {
      return sockets.error().message;
    }
    std::string text = fmt::format("{} sockets", sockets->size());
    for (const UniqueFd& socket : *sockets) {
      const bool closed_on_exec = (::fcntl(socket.get(), F_GETFD) & FD_CLOEXEC) != 0;
      text += fmt::format(" {}{}", socket.get(), closed_on_exec ? "" : " stays open on exec");
    }
    // A recorder must not take them for its own.
    return text + (std::getenv("LISTEN_FDS") == nullptr ? "" : " LISTEN_FDS is still there");
  });
}

// What a child logs on a standard error of which $JOURNAL_STREAM is `stream`.
std::string logged(const std::function<std::string(const struct stat&)>& stream,
                   const std::function<void(const gputrace::LogSink&)>& function) {
  Pipe pipe;
  CHECK(in_child([&] {
          struct stat status{};
          ::dup2(pipe.write_end.get(), STDERR_FILENO);
          ::fstat(STDERR_FILENO, &status);
          ::setenv("JOURNAL_STREAM", stream(status).c_str(), 1);
          function(os::log_to_journal_or_stderr("gputraced"));
          return "returned";
        }) == "returned");
  pipe.write_end.reset();
  std::string text;
  std::array<char, 4096> buffer{};
  ssize_t got = 0;
  while ((got = ::read(pipe.read_end.get(), buffer.data(), buffer.size())) > 0) {
    text.append(buffer.data(), static_cast<std::size_t>(got));
  }
  return text;
}

std::string same_stream(const struct stat& status) {
  return fmt::format("{}:{}", status.st_dev, status.st_ino);
}

}  // namespace

TEST_CASE("systemd is told that the service is ready, and what it does") {
  CHECK(notified([] { os::notify_ready("2 GPUs"); }) == "READY=1\nSTATUS=2 GPUs");
  CHECK(notified([] { os::notify_status("1 recording"); }) == "STATUS=1 recording");
  CHECK(notified([] { os::notify_stopping(); }) == "STOPPING=1");
  CHECK(notified([] { os::notify_watchdog(); }) == "WATCHDOG=1");
}

TEST_CASE("a reload is told with its time, as Type=notify-reload asks") {
  const std::string text = notified([] { os::notify_reloading(); });
  CHECK(text.rfind("RELOADING=1\nMONOTONIC_USEC=", 0) == 0);
  CHECK(std::stoll(text.substr(text.rfind('=') + 1)) > 0);
}

TEST_CASE("a line break in a status begins no assignment of its own") {
  CHECK(notified([] { os::notify_status("game\nMAINPID=1\nREADY=1"); }) ==
        "STATUS=game MAINPID=1 READY=1");
}

TEST_CASE("without systemd, or with one that is gone, nothing is told and nothing fails") {
  const TempDir folder;
  for (const bool gone : {false, true}) {
    CHECK(in_child([&] {
            ::unsetenv("NOTIFY_SOCKET");
            if (gone) {
              ::setenv("NOTIFY_SOCKET", (folder.path() / "none").c_str(), 1);
            }
            os::notify_ready("ready");
            os::notify_watchdog();
            os::notify_stopping();
            return "returned";
          }) == "returned");
  }
}

TEST_CASE("the watchdog wants to hear twice in its time") {
  CHECK(watchdog("10000000", own_pid) == "5000000000");
}

TEST_CASE("a watchdog of another process, or none, is none") {
  CHECK(watchdog("10000000", [] { return std::string("1"); }) == "absent");
  CHECK(watchdog("nonsense", own_pid) == "absent");
  CHECK(in_child([] {
          ::unsetenv("WATCHDOG_USEC");
          return os::watchdog_interval_ns() ? "there" : "absent";
        }) == "absent");
}

TEST_CASE("listening sockets of systemd are taken once, and closed on exec") {
  const TempDir folder;
  const UniqueFd first = bound_socket(SOCK_SEQPACKET, folder.path() / "first");
  const UniqueFd second = bound_socket(SOCK_SEQPACKET, folder.path() / "second");
  REQUIRE(::listen(first.get(), 4) == 0);
  REQUIRE(::listen(second.get(), 4) == 0);
  CHECK(activated({first.get()}, "1") == "1 sockets 3");
  CHECK(activated({first.get(), second.get()}, "2") == "2 sockets 3 4");
}

TEST_CASE("sockets that were meant for another process are left alone") {
  const TempDir folder;
  const UniqueFd socket = bound_socket(SOCK_SEQPACKET, folder.path() / "socket");
  REQUIRE(::listen(socket.get(), 4) == 0);
  CHECK(activated({socket.get()}, "1", true).rfind("0 sockets", 0) == 0);
}

TEST_CASE("a socket of another type, or one that does not listen, is refused with the remedy") {
  const TempDir folder;
  const UniqueFd stream = bound_socket(SOCK_STREAM, folder.path() / "stream");
  REQUIRE(::listen(stream.get(), 4) == 0);
  const UniqueFd deaf = bound_socket(SOCK_SEQPACKET, folder.path() / "deaf");
  Pipe pipe;
  for (const int fd : {stream.get(), deaf.get(), pipe.read_end.get()}) {
    const std::string text = activated({fd}, "1");
    CHECK_MESSAGE(text.find("ListenSequentialPacket=") != std::string::npos, text);
  }
}

TEST_CASE("a LISTEN_FDS that makes no sense is an error") {
  CHECK(activated({}, "many").find("sd_listen_fds") != std::string::npos);
}

TEST_CASE("lines for the journal begin with their priority") {
  CHECK(logged(same_stream, [](const gputrace::LogSink& log) {
          log(LogLevel::kError, "one");
          log(LogLevel::kWarning, "two");
          log(LogLevel::kHint, "three");
          log(LogLevel::kInfo, "four");
        }) == "<3>one\n<4>two\n<5>three\n<6>four\n");
}

TEST_CASE("each line of a text has the priority of the text") {
  CHECK(logged(same_stream, [](const gputrace::LogSink& log) {
          log(LogLevel::kInfo, "label: a\n<0>panic");
        }) == "<6>label: a\n<6><0>panic\n");
}

TEST_CASE("on a standard error that is not the journal lines begin with the program's name") {
  const auto warn = [](const gputrace::LogSink& log) { log(LogLevel::kWarning, "text"); };
  CHECK(logged([](const struct stat&) { return std::string("1:2"); }, warn) ==
        "gputraced: warning: text\n");
  CHECK(logged([](const struct stat&) { return std::string(); }, warn) ==
        "gputraced: warning: text\n");
}
