// One sysfs file that is one sensor: what it is and how its text is read.
#pragma once

#include <filesystem>
#include <string>

#include "daemon/os/sensors/value_format.h"
#include "daemon/sampler/sensor_reader.h"

namespace gputrace::os {

struct SensorFile {
  std::filesystem::path path;
  std::string reader_name;  ///< "hwmon amdgpu power1_average"
  sampler::SensorDescription description;
  ValueFormat format;
  double max_rate_hz = 1000;
  bool needs_gpu_awake = true;
};

}  // namespace gputrace::os
