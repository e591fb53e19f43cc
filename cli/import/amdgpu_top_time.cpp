#include "cli/import/amdgpu_top_time.h"

#include <algorithm>

#include "daemon/base/time.h"

namespace gputrace::import {

namespace {
constexpr std::int64_t kMaxWindowNs = 86'400 * kNsPerSecond;
/// Years from 0: no run lasts longer, and sums cannot overflow.
constexpr std::int64_t kMaxAxisNs = std::int64_t{1} << 62;
}  // namespace

std::int64_t AmdgpuTopClock::length_of(const AmdgpuTopRecord& record) const {
  if (!record.period_ns) {
    const std::int64_t since_ns =
        placed_ == 0 ? kNsPerSecond : record.realtime_ns.value_or(0) - last_.start_ns;
    return since_ns;
  }
  // After a restart the period counts from there.
  return *record.period_ns > last_period_ns_ ? *record.period_ns - last_period_ns_
                                             : *record.period_ns;
}

AmdgpuTopClock::Window AmdgpuTopClock::place(const AmdgpuTopRecord& record,
                                             std::optional<BadCell>& bad) {
  const bool has_wall_clock = record.realtime_ns.has_value();
  if (placed_ > 0 && has_wall_clock != has_wall_clock_) {
    bad = {1, has_wall_clock ? "a timestamp, which the objects before do not have"
                             : "no timestamp, which the objects before have"};
    return {};
  }
  const std::int64_t length_ns = length_of(record);
  Window window;
  window.start_ns = record.realtime_ns.value_or(last_.end_ns);
  if (has_wall_clock && placed_ > 0 && window.start_ns <= last_.start_ns) {
    bad = {1, "the time does not grow from object to object"};
    return {};
  }
  if (placed_ > 0) {
    window.start_ns = std::max(window.start_ns, last_.end_ns);
  }
  const bool far = placed_ > 0 && window.start_ns - last_.end_ns > kMaxWindowNs;
  if (far || length_ns > kMaxWindowNs || window.start_ns > kMaxAxisNs) {
    bad = {1, "the time jumps by more than a day"};
    return {};
  }
  const std::int64_t end_ns = record.realtime_ns.value_or(window.start_ns) + length_ns;
  window.end_ns = std::max(end_ns, window.start_ns + 1);
  if (placed_ > 0 && record.period_ns && *record.period_ns <= last_period_ns_) {
    ++restarts_;
  }
  has_wall_clock_ = has_wall_clock;
  last_period_ns_ = record.period_ns.value_or(last_period_ns_);
  last_ = window;
  ++placed_;
  return window;
}

}  // namespace gputrace::import
