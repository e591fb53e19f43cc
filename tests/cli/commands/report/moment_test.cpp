#include "cli/commands/report/moment.h"

#include <doctest/doctest.h>

#include <cstdlib>
#include <ctime>
#include <string>
#include <utility>
#include <vector>

#include "daemon/base/time.h"

namespace gputrace::commands {
namespace {

/// The test's local time. tests run in processes of their own, so nobody else sees it.
class TimeZone {
 public:
  explicit TimeZone(const char* name) {
    ::setenv("TZ", name, 1);
    ::tzset();
  }
  TimeZone(const TimeZone&) = delete;
  TimeZone& operator=(const TimeZone&) = delete;
  ~TimeZone() {
    ::unsetenv("TZ");
    ::tzset();
  }
};

constexpr std::int64_t kNow =
    1'796'032'800 * kNsPerSecond;  // 2026-11-30T10:00:00Z, 11:00 in Berlin

std::string moment(const std::string& text) {
  const Result<std::int64_t> parsed = parse_moment("--since", text, kNow);
  return parsed ? format_rfc3339_utc(*parsed) : parsed.error().message;
}

TEST_CASE("moments in words, in local time, and as RFC 3339 has them") {
  const TimeZone berlin("CET-1CEST,M3.5.0,M10.5.0/3");
  REQUIRE(format_rfc3339_utc(kNow) == "2026-11-30T10:00:00.000Z");
  const std::vector<std::pair<std::string, std::string>> rows{
      {"2 h ago", "2026-11-30T08:00:00.000Z"},
      {"2h ago", "2026-11-30T08:00:00.000Z"},
      {"2 hours", "2026-11-30T08:00:00.000Z"},
      {"1.5 h ago", "2026-11-30T08:30:00.000Z"},
      {"30 min ago", "2026-11-30T09:30:00.000Z"},
      {"30min", "2026-11-30T09:30:00.000Z"},
      {" 90  s  ago ", "2026-11-30T09:58:30.000Z"},
      {"1 day ago", "2026-11-29T10:00:00.000Z"},
      {"2 weeks ago", "2026-11-16T10:00:00.000Z"},
      {"10:30", "2026-11-30T09:30:00.000Z"},
      {"9:05:07", "2026-11-30T08:05:07.000Z"},
      {"14:00", "2026-11-29T13:00:00.000Z"},
      {"today", "2026-11-29T23:00:00.000Z"},
      {"today 10:00", "2026-11-30T09:00:00.000Z"},
      {"yesterday", "2026-11-28T23:00:00.000Z"},
      {"yesterday 14:00", "2026-11-29T13:00:00.000Z"},
      {"2026-07-01", "2026-06-30T22:00:00.000Z"},
      {"2026-07-01 14:00", "2026-07-01T12:00:00.000Z"},
      {"2026-07-01 14:00:30", "2026-07-01T12:00:30.000Z"},
      {"2026-11-30T09:00:00Z", "2026-11-30T09:00:00.000Z"},
      {"2026-11-30T09:00:00.25+01:00", "2026-11-30T08:00:00.250Z"},
  };
  for (const auto& [text, expected] : rows) {
    CAPTURE(text);
    CHECK(moment(text) == expected);
  }
}

TEST_CASE("what is not a moment of the past is refused with the option's name") {
  const TimeZone utc("UTC0");
  for (const char* text : {"",
                           " ",
                           "ago",
                           "2",
                           "2 ago",
                           "h ago",
                           "-2 h ago",
                           "2 x ago",
                           "2 h ago ago",
                           "2 h 30 min",
                           "1e3 h ago",
                           "inf h",
                           "1..5 h",
                           "99999999999 h ago",
                           "24:00",
                           "12:60",
                           "12:00:60",
                           "12",
                           ":",
                           "1:2",
                           "tomorrow",
                           "yesterday 25:00",
                           "yesterday 14:00 x",
                           "2026-13-01",
                           "2026-02-30",
                           "2026-11-31 10:00",
                           "26-11-30",
                           "2026-11-30T09:00:00",
                           "soon"}) {
    CAPTURE(text);
    const Result<std::int64_t> parsed = parse_moment("--since", text, kNow);
    REQUIRE_FALSE(parsed);
    CHECK(parsed.error().code == ErrorCode::kUsage);
    CHECK(parsed.error().message.find("--since wants a time such as") == 0);
  }
  for (const char* text : {"0 s ago", "today 23:00", "2026-12-01", "2030-01-01T00:00:00Z"}) {
    CAPTURE(text);
    const Result<std::int64_t> parsed = parse_moment("--since", text, kNow);
    REQUIRE_FALSE(parsed);
    CHECK(parsed.error().message.find("is not in the past") != std::string::npos);
  }
}

}  // namespace
}  // namespace gputrace::commands
