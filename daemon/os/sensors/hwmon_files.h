// The sensors of a hwmon folder (Documentation/hwmon/sysfs-interface.rst of Linux), as files.
#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "daemon/os/sensors/sensor_file.h"

namespace gputrace::os {

/// Folders in `parent` whose `name` file says `driver`; numbers differ from boot to boot. The hwmon
/// core itself answers `name`: that wakes nothing.
[[nodiscard]] std::vector<std::filesystem::path> find_hwmon(const std::filesystem::path& parent,
                                                            std::string_view driver);

struct HwmonOptions {
  /// Opens no file of the folder: labels are then those that amdgpu gives each channel.
  bool only_list = false;
  bool is_apu = false;  ///< power then covers the CPU too
};

/// The texts of the files beside a sensor's own; absent = not there or not read.
struct HwmonTexts {
  std::optional<std::string> label;
  std::optional<std::string> pwm_max;
};

/// The sensor of one file of amdgpu's folder by the file's name alone ("temp2_input"), which is
/// then its path; absent for files that are no sensor here.
[[nodiscard]] std::optional<SensorFile> describe_amdgpu_file(const std::string& name,
                                                             const HwmonTexts& texts, bool is_apu);

/// amdgpu's: power, temperatures, clocks, voltages, fan and power caps that the folder lists.
/// Formats of power are still undecided (see decide_power_form).
[[nodiscard]] std::vector<SensorFile> amdgpu_hwmon_files(const std::filesystem::path& folder,
                                                         const HwmonOptions& options);

/// k10temp's temperatures, by label.
[[nodiscard]] std::vector<SensorFile> k10temp_files(const std::filesystem::path& folder);

/// Only APUs have in1 (vddnb): amdgpu_hwmon hides it from other chips (hwmon_attributes_visible in
/// amdgpu_pm.c of Linux).
[[nodiscard]] bool has_apu_rail(const std::filesystem::path& folder);

}  // namespace gputrace::os
