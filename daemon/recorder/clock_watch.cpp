#include "daemon/recorder/clock_watch.h"

#include <fmt/format.h>

#include <cstdlib>

namespace gputrace::recorder {

namespace {

// NTP slews at 500 us a second at most (adjtimex(2)); suspends last far longer than this.
constexpr std::int64_t kJumpNs = 50 * kNsPerMs;

std::int64_t suspended_ns(const TimeAnchor& before, const TimeAnchor& now) {
  return (now.boottime_ns - now.monotonic_ns) - (before.boottime_ns - before.monotonic_ns);
}

std::int64_t stepped_ns(const TimeAnchor& before, const TimeAnchor& now) {
  return (now.realtime_ns - now.boottime_ns) - (before.realtime_ns - before.boottime_ns);
}

double seconds(std::int64_t ns) {
  return static_cast<double>(ns) / static_cast<double>(kNsPerSecond);
}

}  // namespace

std::vector<store::Event> ClockWatch::compare(const TimeAnchor& anchor) {
  std::vector<store::Event> events;
  if (const std::int64_t ns = suspended_ns(last_, anchor); ns > kJumpNs) {
    events.push_back({anchor.monotonic_ns, "suspend",
                      fmt::format("the machine was suspended for {:.1f} s", seconds(ns))});
  }
  if (const std::int64_t ns = stepped_ns(last_, anchor); std::abs(ns) > kJumpNs) {
    events.push_back({anchor.monotonic_ns, "clock_step",
                      fmt::format("the wall clock was set {:.1f} s {}", seconds(std::abs(ns)),
                                  ns > 0 ? "forward" : "back")});
  }
  last_ = anchor;
  return events;
}

bool ClockWatch::sees_jump(const TimeAnchor& anchor) const {
  return suspended_ns(last_, anchor) > kJumpNs || std::abs(stepped_ns(last_, anchor)) > kJumpNs;
}

}  // namespace gputrace::recorder
