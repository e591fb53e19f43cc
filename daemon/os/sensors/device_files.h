// The sensors of amdgpu's own files in the device folder: busy percentages, clock levels, memory.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "daemon/os/sensors/sensor_file.h"

namespace gputrace::os {

/// Those that the folder lists; opens nothing.
[[nodiscard]] std::vector<SensorFile> amdgpu_device_files(const std::filesystem::path& device_dir);

}  // namespace gputrace::os
