#include "daemon/ipc/limited_log.h"

#include <doctest/doctest.h>

#include <string>
#include <vector>

namespace gputrace::ipc {
namespace {

TEST_CASE("a cause gets a few lines a minute, then a count; others are not silenced by it") {
  std::vector<std::string> lines;
  LimitedLog log([&](LogLevel, std::string_view text) { lines.emplace_back(text); });
  for (int i = 0; i < 1000; ++i) {
    log.log(LogLevel::kWarning, "knocks", "a knock", 5);
  }
  CHECK(lines.size() == LimitedLog::kLinesPerWindow);
  log.log(LogLevel::kWarning, "rings", "a ring", 5);
  CHECK(lines.back() == "a ring");
  log.log(LogLevel::kWarning, "knocks", "a late knock", 5 + LimitedLog::kWindowNs);
  REQUIRE(lines.size() == LimitedLog::kLinesPerWindow + 3);
  CHECK(lines.at(lines.size() - 2) == "990 more times: knocks");
  CHECK(lines.back() == "a late knock");
}

TEST_CASE("few lines come without a count") {
  std::vector<std::string> lines;
  LimitedLog log([&](LogLevel, std::string_view text) { lines.emplace_back(text); });
  log.log(LogLevel::kInfo, "x", "one", 0);
  log.log(LogLevel::kInfo, "x", "two", LimitedLog::kWindowNs);
  CHECK(lines == std::vector<std::string>{"one", "two"});
}

TEST_CASE("a log without a sink says nothing") {
  LimitedLog log{LogSink()};
  CHECK_NOTHROW(log.log(LogLevel::kInfo, "x", "one", 0));
}

}  // namespace
}  // namespace gputrace::ipc
