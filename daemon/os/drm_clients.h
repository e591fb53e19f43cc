// Who else has a GPU open, and how long it must be left alone to fall asleep. Reading these files
// wakes nothing.
#pragma once

#include <sys/types.h>

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>

#include "daemon/base/result.h"
#include "daemon/os/gpu_device.h"

namespace gputrace::os {

/// Entries of debugfs dri/N/clients (drm_debugfs.c: drm_clients_info) of processes other than
/// `own_pids`. kPermissionDenied or kNotFound where debugfs is not readable, kUnsupported where the
/// file does not name processes.
[[nodiscard]] Result<std::size_t> count_other_clients(const GpuDevice& gpu,
                                                      const SystemRoots& roots,
                                                      std::span<const pid_t> own_pids);

/// power/control is "auto": the kernel suspends the device when nobody uses it.
[[nodiscard]] bool has_runtime_power_management(const GpuDevice& gpu);
/// power/autosuspend_delay_ms; absent when unreadable or negative (never).
[[nodiscard]] std::optional<std::int64_t> autosuspend_delay_ms(const GpuDevice& gpu);

}  // namespace gputrace::os
