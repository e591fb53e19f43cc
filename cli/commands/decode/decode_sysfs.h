// `decode --sysfs DIR`: the sensors of a GPU's device folder, here or as a copy from elsewhere.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "daemon/base/result.h"
#include "daemon/os/gpu_device.h"
#include "daemon/os/sensors/sensors.h"
#include "daemon/sampler/sensor_reader.h"

namespace gputrace::commands {

struct DecodedSeries {
  sampler::SensorDescription description;
  std::string raw;  ///< text of the file, or the number in the table; empty = none
  std::optional<double> value;
  std::string absent;  ///< why there is no value
};

struct DecodedFolder {
  std::string folder;  ///< as stated
  os::GpuDevice gpu;
  std::string gc_source;                    ///< "--gc", "ip_discovery"; empty = not known
  std::vector<os::SourceFinding> findings;  ///< paths are relative to the device folder
  std::vector<DecodedSeries> series;
};

/// `folder` is a device folder (.../card1/device), a cardN folder, or holds exactly one cardN, as a
/// copy of /sys may. Of a GPU that sleeps no sensor is read. kNotFound and kInvalidArgument say
/// what was looked for. Of `roots` only the names are used.
[[nodiscard]] Result<DecodedFolder> decode_device_folder(const std::string& folder,
                                                         const std::optional<regdb::GcVersion>& gc,
                                                         const os::SystemRoots& roots);

[[nodiscard]] std::string folder_to_text(const DecodedFolder& decoded);
[[nodiscard]] std::string folder_to_json(const DecodedFolder& decoded);

}  // namespace gputrace::commands
