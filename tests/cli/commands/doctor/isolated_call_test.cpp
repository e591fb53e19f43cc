#include "cli/commands/doctor/isolated_call.h"

#include <doctest/doctest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <csignal>
#include <filesystem>

#include "tests/support/error_text.h"

namespace gputrace::commands {

using namespace std::chrono_literals;

namespace {

bool has_children() {
  return ::waitpid(-1, nullptr, WNOHANG) >= 0 || errno != ECHILD;
}

}  // namespace

TEST_CASE("an isolated call brings back what it returns, however long") {
  const std::string long_text(300'000, 'x');
  const auto answer = call_isolated(60s, [&] { return std::string(long_text); });
  REQUIRE_MESSAGE(answer, test::error_text(answer));
  CHECK(*answer == long_text);
  CHECK_FALSE(has_children());
}

TEST_CASE("what an isolated call changes stays there, and its output goes nowhere") {
  int value = 1;
  const auto answer = call_isolated(60s, [&] {
    value = 2;
    return std::filesystem::read_symlink("/proc/self/fd/1").string() + " " +
           std::filesystem::read_symlink("/proc/self/fd/2").string();
  });
  REQUIRE(answer);
  CHECK(*answer == "/dev/null /dev/null");
  CHECK(value == 1);
}

TEST_CASE("a crash in an isolated call is an error that names the signal") {
  const auto answer = call_isolated(60s, [] {
    static_cast<void>(std::raise(SIGKILL));
    return std::string("never");
  });
  REQUIRE_FALSE(answer);
  CHECK(answer.error().code == ErrorCode::kIo);
  CHECK(answer.error().message == "the process crashed (signal 9, Killed)");
  CHECK_FALSE(has_children());
}

TEST_CASE("an isolated call that ends its process is an error too") {
  const auto answer = call_isolated(60s, []() -> std::string { ::_exit(3); });
  REQUIRE_FALSE(answer);
  CHECK(answer.error().message == "the process ended with status 3");
}

TEST_CASE("an isolated call that does not return is killed at its deadline") {
  const auto answer = call_isolated(50ms, [] {
    for (;;) {
      ::pause();
    }
    return std::string();
  });
  REQUIRE_FALSE(answer);
  CHECK(answer.error().code == ErrorCode::kBusy);
  CHECK(answer.error().message == "no answer within 0.05 s");
  CHECK_FALSE(has_children());
}

}  // namespace gputrace::commands
