#include "daemon/os/sensors/device_files.h"

#include <algorithm>
#include <array>
#include <string_view>
#include <utility>

#include "daemon/os/sysfs.h"

namespace gputrace::os {

namespace {

struct DeviceFile {
  std::string_view file;
  std::string_view series;
  std::string_view unit;
  ValueFormat format;
  double max_rate_hz;
};

constexpr ValueFormat kPercent{TextForm::kInteger, 1, 0, 100, false, false};
constexpr ValueFormat kBytes{TextForm::kInteger, 1, 0, 1e15, false, false};
constexpr ValueFormat kLevel{TextForm::kDpmClock, 1, 0, 10'000, false, false};
constexpr ValueFormat kLink{TextForm::kDpmPcie, 1, 0, 1e12, false, false};
constexpr double kAnyRate = 1000;
constexpr double kConstant = 1;

constexpr std::array kDeviceFiles{
    DeviceFile{"gpu_busy_percent", "gfx_activity", "%", kPercent, kAnyRate},
    DeviceFile{"mem_busy_percent", "mem_activity", "%", kPercent, kAnyRate},
    DeviceFile{"vcn_busy_percent", "media_activity", "%", kPercent, kAnyRate},
    DeviceFile{"mem_info_vram_used", "vram_used", "bytes", kBytes, kAnyRate},
    DeviceFile{"mem_info_vram_total", "vram_total", "bytes", kBytes, kConstant},
    DeviceFile{"mem_info_vis_vram_used", "visible_vram_used", "bytes", kBytes, kAnyRate},
    DeviceFile{"mem_info_vis_vram_total", "visible_vram_total", "bytes", kBytes, kConstant},
    DeviceFile{"mem_info_gtt_used", "gtt_used", "bytes", kBytes, kAnyRate},
    DeviceFile{"mem_info_gtt_total", "gtt_total", "bytes", kBytes, kConstant},
    DeviceFile{"pp_dpm_sclk", "gfx_clock", "MHz", kLevel, kAnyRate},
    DeviceFile{"pp_dpm_mclk", "mem_clock", "MHz", kLevel, kAnyRate},
    DeviceFile{"pp_dpm_socclk", "soc_clock", "MHz", kLevel, kAnyRate},
    DeviceFile{"pp_dpm_fclk", "fabric_clock", "MHz", kLevel, kAnyRate},
    DeviceFile{"pp_dpm_vclk", "video_clock", "MHz", kLevel, kAnyRate},
    DeviceFile{"pp_dpm_vclk1", "video_clock_1", "MHz", kLevel, kAnyRate},
    DeviceFile{"pp_dpm_dclk", "video_decode_clock", "MHz", kLevel, kAnyRate},
    DeviceFile{"pp_dpm_dclk1", "video_decode_clock_1", "MHz", kLevel, kAnyRate},
    DeviceFile{"pp_dpm_dcefclk", "display_clock", "MHz", kLevel, kAnyRate},
    DeviceFile{"pp_dpm_pcie", "pcie_capacity", "bytes/s", kLink, kConstant},
};

std::string_view covers_of(TextForm form) {
  return form == TextForm::kDpmPcie ? "one direction of the link" : "";
}

std::string_view decision_of(TextForm form) {
  switch (form) {
    case TextForm::kDpmClock:
      return "nominal clock of the level that the driver marks as current";
    case TextForm::kDpmPcie:
      return "transfers and lanes of the level that the driver marks as current, less the line "
             "coding";
    case TextForm::kInteger:
    case TextForm::kPower:
      break;
  }
  return "";
}

}  // namespace

std::vector<SensorFile> amdgpu_device_files(const std::filesystem::path& device_dir) {
  const std::vector<std::string> names = list_folder(device_dir);
  std::vector<SensorFile> files;
  for (const DeviceFile& known : kDeviceFiles) {
    if (!std::binary_search(names.begin(), names.end(), known.file)) {
      continue;
    }
    SensorFile file;
    file.path = device_dir / known.file;
    file.reader_name = known.file;
    file.description.name = known.series;
    file.description.source = known.file;
    file.description.unit = known.unit;
    file.description.covers = covers_of(known.format.form);
    file.description.decision = decision_of(known.format.form);
    file.format = known.format;
    file.max_rate_hz = known.max_rate_hz;
    files.push_back(std::move(file));
  }
  return files;
}

}  // namespace gputrace::os
