// All sensors that a machine has for a GPU: which could be opened, and why the others could not.
// Nothing here wakes a sleeping device.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "daemon/os/gpu_device.h"
#include "daemon/sampler/sensor_reader.h"
#include "regdb/gc_version.h"

namespace gputrace::os {

enum class SourceState {
  kWorks,
  kAbsent,   ///< this machine, chip or kernel has none: normal
  kRefused,  ///< it is there; a permission or setting keeps us out
  kBroken,   ///< it is there and answers nonsense or errors
  kAsleep,   ///< not looked at: that would wake the device
};

/// One source as `gputrace doctor` shows it.
struct SourceFinding {
  std::string source;  ///< as SensorReader::name()
  SourceState state = SourceState::kAbsent;
  int error_number = 0;  ///< errno where there was one
  std::string reason;    ///< what was found, in words; with the path
  std::string fix;       ///< what a person can do; empty = nothing
  std::string loses;     ///< what a recording lacks without it; empty while it works
};

struct OpenedSensors {
  std::vector<std::unique_ptr<sampler::SensorReader>> readers;
  std::vector<SourceFinding> findings;  ///< of all sources, working ones too
};

/// gpu_metrics, hwmon, busy percentages, clocks, memory use. `gc` where the GPU was opened or its
/// IP discovery tells. Does not touch the device while it sleeps: findings then say kAsleep, and
/// readers open their files when it is awake.
[[nodiscard]] OpenedSensors open_gpu_sensors(const GpuDevice& gpu,
                                             const std::optional<regdb::GcVersion>& gc);

/// Of the machine, whatever the GPU: CPU temperature (k10temp), package and core energy (RAPL),
/// DRAM traffic (amd_umc, amd_df).
[[nodiscard]] OpenedSensors open_machine_sensors(const SystemRoots& roots);

}  // namespace gputrace::os
