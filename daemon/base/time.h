// Clocks, absolute sleep, and the scheduling of the calling thread: all that the sampling loop
// needs of the operating system, so that daemon/sampler includes no system header.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>

#include "daemon/base/result.h"

namespace gputrace {

inline constexpr std::int64_t kNsPerSecond = 1'000'000'000;
inline constexpr std::int64_t kNsPerMs = 1'000'000;

/// The three clocks read together. BOOTTIME - MONOTONIC grows by the time suspended;
/// REALTIME - BOOTTIME jumps when the wall clock is set.
struct TimeAnchor {
  std::int64_t monotonic_ns = 0;
  std::int64_t boottime_ns = 0;
  std::int64_t realtime_ns = 0;
};

[[nodiscard]] std::int64_t monotonic_now_ns() noexcept;
[[nodiscard]] TimeAnchor read_time_anchor() noexcept;
/// CPU time of all threads of the calling process (user and system).
[[nodiscard]] std::int64_t process_cpu_time_ns() noexcept;

/// "2026-11-29T22:27:15.123Z" for CLOCK_REALTIME nanoseconds.
[[nodiscard]] std::string format_rfc3339_utc(std::int64_t realtime_ns);

/// What the sampling loop knows of time. Tests pass a clock that they move by hand.
class Clock {
 public:
  Clock() = default;
  Clock(const Clock&) = delete;
  Clock& operator=(const Clock&) = delete;
  virtual ~Clock() = default;

  /// CLOCK_MONOTONIC.
  [[nodiscard]] virtual std::int64_t now_ns() noexcept = 0;
  /// Returns at or after `deadline_ns`, or earlier when a signal handler ran.
  virtual void sleep_until(std::int64_t deadline_ns) noexcept = 0;
};

class MonotonicClock final : public Clock {
 public:
  [[nodiscard]] std::int64_t now_ns() noexcept override;
  void sleep_until(std::int64_t deadline_ns) noexcept override;
};

/// Timer slack of the calling thread; the default of 50 us is added to every sleep (prctl(2)).
Status set_timer_slack(std::int64_t slack_ns);
/// SCHED_FIFO with SCHED_RESET_ON_FORK for the calling thread. kPermissionDenied without
/// CAP_SYS_NICE or an RLIMIT_RTPRIO: the caller goes on without and says so.
Status set_fifo_scheduling(int priority);
/// mlock(2) of one range. kPermissionDenied or kNoSpace when RLIMIT_MEMLOCK is too small.
Status lock_memory(const void* address, std::size_t size);

}  // namespace gputrace
