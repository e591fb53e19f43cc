#include "daemon/recorder/clock_watch.h"

#include <doctest/doctest.h>

#include <vector>

namespace gputrace::recorder {
namespace {

constexpr TimeAnchor kStart{100 * kNsPerSecond, 200 * kNsPerSecond, 5000 * kNsPerSecond};

TimeAnchor later(TimeAnchor anchor, std::int64_t monotonic, std::int64_t suspended,
                 std::int64_t stepped) {
  anchor.monotonic_ns += monotonic;
  anchor.boottime_ns += monotonic + suspended;
  anchor.realtime_ns += monotonic + suspended + stepped;
  return anchor;
}

TEST_CASE("a second that passes on all three clocks is no event") {
  ClockWatch watch(kStart);
  const TimeAnchor next = later(kStart, kNsPerSecond, 0, 0);
  CHECK_FALSE(watch.sees_jump(next));
  CHECK(watch.compare(next).empty());
}

TEST_CASE("NTP slewing at its limit is no clock step") {
  ClockWatch watch(kStart);
  TimeAnchor anchor = kStart;
  for (int second = 0; second < 3600; ++second) {
    anchor = later(anchor, kNsPerSecond, 0, 500'000);
    CHECK(watch.compare(anchor).empty());
  }
}

TEST_CASE("time suspended is an event with its length, and no clock step") {
  ClockWatch watch(kStart);
  const TimeAnchor next = later(kStart, kNsPerSecond, 60 * kNsPerSecond, 0);
  CHECK(watch.sees_jump(next));
  const std::vector<store::Event> events = watch.compare(next);
  REQUIRE(events.size() == 1);
  CHECK(events[0].kind == "suspend");
  CHECK(events[0].text.find("60.0 s") != std::string::npos);
  CHECK(events[0].time_ns == next.monotonic_ns);
  CHECK(watch.compare(later(next, kNsPerSecond, 0, 0)).empty());
}

TEST_CASE("a wall clock that is set is an event, forward and back") {
  for (const auto& [step, word] : std::vector<std::pair<std::int64_t, const char*>>{
           {3600 * kNsPerSecond, "forward"}, {-2 * kNsPerSecond, "back"}}) {
    ClockWatch watch(kStart);
    const std::vector<store::Event> events = watch.compare(later(kStart, kNsPerSecond, 0, step));
    REQUIRE(events.size() == 1);
    CHECK(events[0].kind == "clock_step");
    CHECK(events[0].text.find(word) != std::string::npos);
  }
}

}  // namespace
}  // namespace gputrace::recorder
