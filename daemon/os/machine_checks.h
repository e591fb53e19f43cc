// What this process may ask of the machine, tried out as a recording would: for `gputrace doctor`.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "daemon/base/result.h"

namespace gputrace::os {

/// How late sleeps end.
struct TimerPrecision {
  std::int64_t period_ns = 0;  ///< of the sleeps
  unsigned sleeps = 0;
  std::int64_t median_ns = 0;
  std::int64_t worst_ns = 0;
};

struct MachineChecks {
  std::string kernel_release;                        ///< "6.12.9-amd64"; empty when uname(2) fails
  Status realtime;                                   ///< SCHED_FIFO for the sampling thread
  Status locked_memory;                              ///< the pool of a recording
  std::optional<std::uint64_t> locked_memory_limit;  ///< RLIMIT_MEMLOCK; absent = unlimited
  TimerPrecision timer;  ///< with real-time scheduling where that is permitted
};

/// Takes a tenth of a second. What is tried is undone: it happens on a thread that then ends.
[[nodiscard]] MachineChecks check_machine();

}  // namespace gputrace::os
