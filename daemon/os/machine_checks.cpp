#include "daemon/os/machine_checks.h"

#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/utsname.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstddef>
#include <thread>

#include "daemon/base/time.h"

namespace gputrace::os {

namespace {

// As ReadingThread asks for: the lowest real-time priority, no slack, some MiB of locked memory.
constexpr int kPriority = 1;
constexpr std::int64_t kSlackNs = 1;
constexpr std::size_t kPoolBytes = std::size_t{4} * 1024 * 1024;

constexpr std::size_t kSleeps = 100;
constexpr std::int64_t kPeriodNs = 1 * kNsPerMs;

TimerPrecision measure_timer() {
  MonotonicClock clock;
  std::array<std::int64_t, kSleeps> late_ns{};
  std::int64_t due_ns = clock.now_ns();
  for (std::int64_t& late : late_ns) {
    due_ns = std::max(due_ns + kPeriodNs, clock.now_ns());
    clock.sleep_until(due_ns);
    late = std::max<std::int64_t>(clock.now_ns() - due_ns, 0);
  }
  std::sort(late_ns.begin(), late_ns.end());
  return {kPeriodNs, kSleeps, late_ns[kSleeps / 2], late_ns.back()};
}

Status try_to_lock() {
  void* pool =
      ::mmap(nullptr, kPoolBytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (pool == MAP_FAILED) {
    return fail_errno(errno, "cannot map memory to lock");
  }
  Status status = lock_memory(pool, kPoolBytes);
  ::munmap(pool, kPoolBytes);
  return status;
}

}  // namespace

MachineChecks check_machine() {
  MachineChecks checks;
  utsname names{};
  if (::uname(&names) == 0) {
    checks.kernel_release = names.release;
  }
  rlimit limit{};
  if (::getrlimit(RLIMIT_MEMLOCK, &limit) == 0 && limit.rlim_cur != RLIM_INFINITY) {
    checks.locked_memory_limit = limit.rlim_cur;
  }
  checks.locked_memory = try_to_lock();
  std::thread([&checks] {
    // Refused, the figure shows it: sleeps then end later.
    [[maybe_unused]] const Status slack = set_timer_slack(kSlackNs);
    checks.realtime = set_fifo_scheduling(kPriority);
    checks.timer = measure_timer();
  }).join();
  return checks;
}

}  // namespace gputrace::os
