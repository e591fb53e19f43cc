// One look at the DRM clients of some processes, through /proc/PID/fd and fdinfo.
#pragma once

#include <sys/types.h>

#include <cstdint>
#include <filesystem>
#include <set>
#include <span>
#include <string>

#include "daemon/ipc/message.h"

namespace gputrace::commands {

struct ClientScan {
  /// Clients of amdgpu. One whose file several descriptors or processes share counts once, for the
  /// first of `processes` that has it.
  ipc::ProcessesOrder order;
  std::set<std::string> other_drivers;  ///< of clients of other drivers: "i915"
};

/// A process that goes away meanwhile is none; one whose descriptors may not be read (another
/// user's, or not dumpable) is counted. Reading fdinfo asks the driver and may wait for it: not for
/// a process that must stay awake. After `budget_ns` of CPU time the rest counts as unreadable.
[[nodiscard]] ClientScan scan_clients(const std::filesystem::path& proc,
                                      std::span<const pid_t> processes, std::int64_t budget_ns);

/// CPU time of this thread so far.
[[nodiscard]] std::int64_t thread_cpu_ns();

}  // namespace gputrace::commands
