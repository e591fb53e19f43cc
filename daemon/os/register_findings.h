// Every way to a GPU's status registers, each tried by itself: for `gputrace doctor`.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "daemon/os/gpu_device.h"
#include "daemon/os/sensors/sensors.h"
#include "regdb/register_database.h"

namespace gputrace::os {

struct RegisterFinding {
  std::string source;  ///< "drm ioctl", "debugfs regs2", "debugfs regs", "bar"
  SourceState state = SourceState::kAbsent;
  std::vector<std::string> registers;   ///< that it gives now
  std::optional<std::int64_t> cost_ns;  ///< of one sample of all of them
  std::string reason;                   ///< why not, with the fix where there is one
};

struct RegisterFindings {
  GpuDevice device;  ///< with what opening told
  std::vector<RegisterFinding> sources;
  std::vector<std::string> missing;  ///< that the GPU has and no source gives; empty while asleep
};

/// Reads a sample through every source that opens, as a recording would, with the same guards. A
/// sleeping GPU is not opened: all sources are kAsleep, or kRefused where the render node's
/// permissions say so already.
[[nodiscard]] RegisterFindings find_register_sources(const GpuDevice& gpu,
                                                     const regdb::RegisterDatabase& regdb,
                                                     const SystemRoots& roots);

/// How the GPU sleeps and what the driver was told: power management, GFXOFF, module options.
struct PowerFindings {
  bool may_suspend = false;  ///< power/control is "auto"
  std::optional<std::int64_t> autosuspend_ms;
  std::optional<bool> gfxoff_allowed;     ///< bit 15 of amdgpu.ppfeaturemask
  std::optional<unsigned> gfxoff_status;  ///< 0 off, 1 leaving, 2 on, 3 entering; needs root
  std::string gfxoff_status_unknown;      ///< why, with errno
  std::vector<std::string> options;  ///< of the module that cost something: "dpm=0: no sensors"
};
/// Reads no file of the device while it sleeps.
[[nodiscard]] PowerFindings find_power_settings(const GpuDevice& gpu, const SystemRoots& roots);

}  // namespace gputrace::os
