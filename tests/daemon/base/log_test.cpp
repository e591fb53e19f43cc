#include "daemon/base/log.h"

#include <doctest/doctest.h>
#include <fcntl.h>
#include <unistd.h>

#include <array>
#include <string>

#include "daemon/base/unique_fd.h"

using namespace gputrace;

TEST_CASE("messages go to standard error with program and level, info without a level") {
  std::array<int, 2> ends{};
  REQUIRE(::pipe2(ends.data(), O_CLOEXEC) == 0);
  const UniqueFd read_end(ends[0]);
  UniqueFd write_end(ends[1]);
  const UniqueFd saved(::fcntl(STDERR_FILENO, F_DUPFD_CLOEXEC, 3));
  REQUIRE(::dup2(write_end.get(), STDERR_FILENO) == STDERR_FILENO);
  const LogSink sink = log_to_stderr("gputrace");
  sink(LogLevel::kWarning, "412 of 10000 ticks were late");
  sink(LogLevel::kInfo, "recording");
  REQUIRE(::dup2(saved.get(), STDERR_FILENO) == STDERR_FILENO);
  write_end.reset();
  std::array<char, 256> text{};
  const auto size = ::read(read_end.get(), text.data(), text.size());
  CHECK(std::string(text.data(), static_cast<std::size_t>(size)) ==
        "gputrace: warning: 412 of 10000 ticks were late\ngputrace: recording\n");
}
