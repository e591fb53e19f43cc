// The sensors that amdgpu shows as files of sysfs, for the simulated GPU: which there are, what
// they stand for, and their text. Shared by the readers in the process and the rig's files.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>

#include "daemon/simulated_gpu/simulated_sensors.h"

namespace gputrace::simulated_gpu {

enum class SensorFileForm {
  kNumber,
  kPower,  ///< 8.8 fixed point, as amdgpu_hwmon_get_power (amdgpu_pm.c) prints it
};

struct SensorFile {
  bool hwmon = false;     ///< in the folder hwmon/hwmonN, else in the device's own
  std::string_view file;  ///< "power1_average"
  std::string_view sensor;
  std::string_view label;  ///< text of power1_label and the like
  std::string_view unit;
  double step = 1;           ///< what the file resolves, in `unit`
  double file_per_unit = 1;  ///< the file's number for one `unit`
  double (*value)(const SimulatedSensors& sensors, const SensorValues& values) = nullptr;
  bool on_apu = true;
  bool on_card = true;
  SensorFileForm form = SensorFileForm::kNumber;

  /// As exact as the file shows it.
  [[nodiscard]] double rounded_value(const SimulatedSensors& sensors,
                                     const SensorValues& values) const;
  /// With the newline.
  [[nodiscard]] std::string text(const SimulatedSensors& sensors, const SensorValues& values) const;
};

/// Of every kind of GPU; on_apu and on_card say whose.
[[nodiscard]] std::span<const SensorFile> sensor_files();

}  // namespace gputrace::simulated_gpu
