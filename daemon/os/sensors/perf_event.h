// Counters of the kernel's PMUs for a whole CPU (perf_event_open(2)), and why they are refused.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <string_view>

#include "daemon/os/gpu_device.h"

namespace gputrace::os {

/// What to count: fields of perf_event_attr.
struct PerfEvent {
  std::uint32_t type = 0;
  std::uint64_t config = 0;
  std::uint64_t config1 = 0;
  std::uint64_t config2 = 0;
};

/// Opens a counter of all tasks on `cpu` that counts from then on: a descriptor, or -errno.
using PerfEventOpen = std::function<int(const PerfEvent& event, int cpu)>;
/// The system call.
[[nodiscard]] int open_perf_event(const PerfEvent& event, int cpu);

/// Since the counter was opened. `running_ns` is below `enabled_ns` when the kernel had to share
/// the hardware counters: `value` then speaks of that part of the time.
struct PerfCount {
  std::uint64_t value = 0;
  std::uint64_t enabled_ns = 0;
  std::uint64_t running_ns = 0;
};

/// 0, or an errno; ENODEV when the CPU of the counter has gone offline.
[[nodiscard]] int read_perf_event(int fd, PerfCount& count) noexcept;

struct PerfRefusal {
  std::string reason;  ///< "cannot count amd_umc_0 on CPU 0: Permission denied; it needs ..."
  std::string fix;     ///< empty when there is nothing to do
  bool is_permission = false;
};
/// `what`: of the PMU, for the message. kernel.perf_event_paranoid is read from `roots`.
[[nodiscard]] PerfRefusal explain_perf_error(int error_number, std::string_view what, int cpu,
                                             const SystemRoots& roots);

}  // namespace gputrace::os
