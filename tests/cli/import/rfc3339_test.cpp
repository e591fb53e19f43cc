#include "cli/import/rfc3339.h"

#include <doctest/doctest.h>

#include <array>

#include "daemon/base/time.h"

namespace gputrace::import {
namespace {

TEST_CASE("a UTC time with and without decimals is read") {
  CHECK(parse_rfc3339("1970-01-01T00:00:00Z") == 0);
  CHECK(parse_rfc3339("2026-11-29T22:27:15.123Z") == 1'795'991'235'123'000'000);
  CHECK(parse_rfc3339("2026-11-29t22:27:15.000000001z") == 1'795'991'235'000'000'001);
  CHECK(parse_rfc3339("2024-02-29 12:00:00Z").has_value());
}

TEST_CASE("an offset leads to the same instant") {
  CHECK(parse_rfc3339("2026-11-29T23:27:15+01:00") == parse_rfc3339("2026-11-29T22:27:15Z"));
  CHECK(parse_rfc3339("2026-11-29T18:57:15-03:30") == parse_rfc3339("2026-11-29T22:27:15Z"));
}

TEST_CASE("what is printed is read back") {
  const std::int64_t time_ns = 1'795'991'235'123'000'000;
  CHECK(parse_rfc3339(format_rfc3339_utc(time_ns)) == time_ns);
}

TEST_CASE("text that is no such time gives nothing") {
  constexpr std::array kBad = {
      "",
      "now",
      "2026-11-29",
      "2026-11-29T22:27:15",
      "2026-11-29T22:27:15.Z",
      "2026-11-29T22:27:15Zx",
      "2026-11-29T22:27:15 Z",
      "2026-13-29T22:27:15Z",
      "2026-02-29T22:27:15Z",
      "2026-11-00T22:27:15Z",
      "2026-11-29T24:27:15Z",
      "2026-11-29T22:60:15Z",
      "2026-11-29T22:27:61Z",
      "2026-11-29T22:27:15+24:00",
      "2026-11-29T22:27:15+0100",
      "1969-12-31T23:59:59Z",
      "9999-01-01T00:00:00Z",
      "-026-11-29T22:27:15Z",
      "2026-11-29T22:27:1",
  };
  for (const char* const text : kBad) {
    CAPTURE(text);
    CHECK_FALSE(parse_rfc3339(text).has_value());
  }
}

}  // namespace
}  // namespace gputrace::import
