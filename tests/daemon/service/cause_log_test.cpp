#include "daemon/service/cause_log.h"

#include <doctest/doctest.h>
#include <fmt/format.h>

#include <string>
#include <vector>

namespace gputrace::service {
namespace {

struct Written {
  std::vector<std::string> lines;
  std::int64_t now_ns = kNsPerSecond;
  CauseLog log{[this](LogLevel, std::string_view text) { lines.emplace_back(text); },
               [this] { return now_ns; }};
};

TEST_CASE("a cause is logged once, and after an hour with how often it was held back") {
  Written written;
  for (int i = 0; i < 100; ++i) {
    written.log.say_once(LogLevel::kWarning, "disk", "the disk is full");
  }
  CHECK(written.lines == std::vector<std::string>{"the disk is full"});
  written.now_ns += 3600 * kNsPerSecond;
  written.log.say_once(LogLevel::kWarning, "disk", "the disk is full");
  REQUIRE(written.lines.size() == 2);
  CHECK(written.lines[1] == "the disk is full (repeated 99 times)");
}

TEST_CASE("a cause that was over is news again") {
  Written written;
  written.log.say_once(LogLevel::kWarning, "disk", "full");
  written.log.over("disk");
  written.log.over("never said");
  written.log.say_once(LogLevel::kWarning, "disk", "full");
  CHECK(written.lines.size() == 2);
}

TEST_CASE("however many causes clients make, the log stays bounded") {
  Written written;
  for (int i = 0; i < 10'000; ++i) {
    written.log.say_once(LogLevel::kInfo, fmt::format("client {}", i), "connected");
  }
  CHECK(written.lines.size() < 300);
}

}  // namespace
}  // namespace gputrace::service
