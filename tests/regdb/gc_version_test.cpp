#include "regdb/gc_version.h"

#include <doctest/doctest.h>

using gputrace::regdb::GcVersion;
using gputrace::regdb::parse_gc_version;

TEST_CASE("a GC version is three numbers, or two when the revision is 0") {
  CHECK(*parse_gc_version("11.0.1") == GcVersion{11, 0, 1});
  CHECK(*parse_gc_version("9.0") == GcVersion{9, 0, 0});
  CHECK(to_string(*parse_gc_version("9.0")) == "9.0.0");
}

TEST_CASE("what is not a GC version is refused with the text in the message") {
  for (const char* text :
       {"", "11", "11.", "11.0.", "11.0.1.2", "11.0.x", "-1.0", "256.0", " 9.0"}) {
    CAPTURE(text);
    const auto version = parse_gc_version(text);
    REQUIRE_FALSE(version);
    CHECK(version.error().code == gputrace::ErrorCode::kInvalidArgument);
    CHECK(version.error().message.find(text) != std::string::npos);
  }
}
