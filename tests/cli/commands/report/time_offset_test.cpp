#include "cli/commands/report/time_offset.h"

#include <doctest/doctest.h>

using gputrace::commands::parse_time_offset;

TEST_CASE("times are seconds, or minutes and hours with colons") {
  CHECK(parse_time_offset("--from", "0").value_or(-1) == 0);
  CHECK(parse_time_offset("--from", "12.5").value_or(-1) == 12.5);
  CHECK(parse_time_offset("--from", "90").value_or(-1) == 90);
  CHECK(parse_time_offset("--from", "1:30").value_or(-1) == 90);
  CHECK(parse_time_offset("--from", "1:02:03.5").value_or(-1) == 3723.5);
}

TEST_CASE("what is not a time is refused with the option's name") {
  for (const char* text : {"", ":", "1:", ":1", "-1", "1e3", "nan", "inf", "0x10", "1:60", "1.5:00",
                           "1:2:3:4", "1.2.3", " 1", "1 s", "99999999999"}) {
    CAPTURE(text);
    const auto parsed = parse_time_offset("--to", text);
    REQUIRE_FALSE(parsed);
    CHECK(parsed.error().code == gputrace::ErrorCode::kUsage);
    CHECK(parsed.error().message.find("--to") != std::string::npos);
  }
}
