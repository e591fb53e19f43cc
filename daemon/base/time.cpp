#include "daemon/base/time.h"

#include <fmt/format.h>
#include <sched.h>
#include <sys/mman.h>
#include <sys/prctl.h>

#include <cerrno>
#include <ctime>

namespace gputrace {

namespace {
std::int64_t read_clock(clockid_t id) noexcept {
  timespec value{};
  ::clock_gettime(id, &value);
  return static_cast<std::int64_t>(value.tv_sec) * kNsPerSecond + value.tv_nsec;
}
}  // namespace

std::int64_t monotonic_now_ns() noexcept {
  return read_clock(CLOCK_MONOTONIC);
}

TimeAnchor read_time_anchor() noexcept {
  return {read_clock(CLOCK_MONOTONIC), read_clock(CLOCK_BOOTTIME), read_clock(CLOCK_REALTIME)};
}

std::int64_t process_cpu_time_ns() noexcept {
  return read_clock(CLOCK_PROCESS_CPUTIME_ID);
}

std::string format_rfc3339_utc(std::int64_t realtime_ns) {
  std::int64_t seconds = realtime_ns / kNsPerSecond;
  std::int64_t rest = realtime_ns % kNsPerSecond;
  if (rest < 0) {
    rest += kNsPerSecond;
    --seconds;
  }
  const auto when = static_cast<std::time_t>(seconds);
  std::tm parts{};
  ::gmtime_r(&when, &parts);
  return fmt::format("{:04}-{:02}-{:02}T{:02}:{:02}:{:02}.{:03}Z", parts.tm_year + 1900,
                     parts.tm_mon + 1, parts.tm_mday, parts.tm_hour, parts.tm_min, parts.tm_sec,
                     rest / kNsPerMs);
}

std::int64_t MonotonicClock::now_ns() noexcept {
  return monotonic_now_ns();
}

void MonotonicClock::sleep_until(std::int64_t deadline_ns) noexcept {
  const timespec deadline{static_cast<std::time_t>(deadline_ns / kNsPerSecond),
                          static_cast<long>(deadline_ns % kNsPerSecond)};
  ::clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &deadline, nullptr);
}

Status set_timer_slack(std::int64_t slack_ns) {
  if (::prctl(PR_SET_TIMERSLACK, static_cast<unsigned long>(slack_ns), 0, 0, 0) != 0) {
    return fail_errno(errno, "cannot set the timer slack");
  }
  return {};
}

Status set_fifo_scheduling(int priority) {
  sched_param parameter{};
  parameter.sched_priority = priority;
  if (::sched_setscheduler(0, SCHED_FIFO | SCHED_RESET_ON_FORK, &parameter) != 0) {
    return fail_errno(errno, "cannot use SCHED_FIFO");
  }
  return {};
}

Status lock_memory(const void* address, std::size_t size) {
  if (::mlock(address, size) != 0) {
    return fail_errno(errno, fmt::format("cannot lock {} bytes of memory", size));
  }
  return {};
}

}  // namespace gputrace
