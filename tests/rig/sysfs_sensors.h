// The sensor files of the rig's GPU in sysfs: what amdgpu shows as numbers, its metrics table, and
// on an APU the processor's temperature and energy. Faults included. Knows nothing of FUSE.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "daemon/simulated_gpu/sensor_files.h"
#include "tests/rig/control.h"
#include "tests/rig/gpu_model.h"
#include "tests/rig/rig_sensors.h"

namespace gputrace::rig {

enum class SensorKind { kFile, kMetrics, kGfxClockLevels, kMemoryClockLevels, kProcessor };

struct SysfsSensor {
  std::string path;  ///< from the device's folder; of the processor's from /sys
  SensorKind kind = SensorKind::kFile;
  const simulated_gpu::SensorFile* file = nullptr;                           ///< of kFile
  double (*processor)(const simulated_gpu::SensorValues& values) = nullptr;  ///< the file's number
  bool wakes = true;  ///< reading it resumes a suspended device
};

/// What stands beside them and never changes: path and text.
using SysfsTexts = std::vector<std::pair<std::string, std::string>>;

/// `index` of the GPU in the tree.
[[nodiscard]] std::vector<SysfsSensor> sysfs_sensors_of(const GpuModel& gpu, std::size_t index);
[[nodiscard]] SysfsTexts sensor_labels_of(const GpuModel& gpu, std::size_t index);
[[nodiscard]] SysfsTexts processor_texts();

struct SensorAnswer {
  int error = 0;  ///< errno, 0 for success
  std::string bytes;
};

class SysfsSensors {
 public:
  SysfsSensors(const GpuModel& gpu, std::size_t index, std::shared_ptr<const RigSensors> sensors,
               std::shared_ptr<RigControl> control);

  /// The switches for sensor files concern this one now.
  [[nodiscard]] bool is_faulty(std::size_t sensor) const;
  /// All of the file, as of now. Counts, and wakes a suspended device as kernels before 6.14 do.
  [[nodiscard]] SensorAnswer read(std::size_t sensor, std::int64_t now_ns);

 private:
  [[nodiscard]] std::string metrics_bytes(const simulated_gpu::SensorValues& values) const;
  [[nodiscard]] std::string text_of(const SysfsSensor& sensor,
                                    const simulated_gpu::SensorValues& values) const;

  GpuModel gpu_;
  std::shared_ptr<const RigSensors> sensors_;
  std::shared_ptr<RigControl> control_;
  std::vector<SysfsSensor> files_;
};

}  // namespace gputrace::rig
