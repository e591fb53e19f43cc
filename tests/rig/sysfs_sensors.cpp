#include "tests/rig/sysfs_sensors.h"

#include <fmt/format.h>

#include <cerrno>
#include <cmath>
#include <ctime>
#include <span>

#include "daemon/base/time.h"
#include "daemon/simulated_gpu/metrics_table.h"
#include "regdb/gpu_metrics.h"

namespace gputrace::rig {
namespace {

using simulated_gpu::SensorValues;

// Far from the numbers of the machine that the tests run on: an overlay shows both.
constexpr std::size_t kFirstHwmon = 90;
constexpr std::string_view kProcessorHwmon = "class/hwmon/hwmon89";
constexpr std::string_view kEnergyZone = "class/powercap/intel-rapl:0";
constexpr std::uint64_t kEnergyRangeUj = 65'532'610'987;

std::string hwmon_folder(std::size_t index) {
  return fmt::format("hwmon/hwmon{}/", kFirstHwmon + index);
}

bool has(const GpuModel& gpu, const simulated_gpu::SensorFile& file) {
  if (file.file == "vcn_busy_percent") {  // amdgpu_pm.c: a few APUs only
    return gpu.apu && gpu.gc.major >= 11;
  }
  if (file.file == "temp2_input" || file.file == "temp3_input") {
    return !gpu.apu && gpu.gc.major >= 9;
  }
  if (file.file == "mem_busy_percent" && gpu.gc == regdb::GcVersion{9, 0, 1}) {
    return false;
  }
  return gpu.apu ? file.on_apu : file.on_card;
}

/// Which revision of the table the driver of this chip gives; null for chips without one.
const regdb::MetricsLayout* metrics_layout_of(const GpuModel& gpu) {
  if (gpu.gc < regdb::GcVersion{9, 1, 0}) {  // amdgpu_pm.c
    return nullptr;
  }
  if (!gpu.apu) {
    return regdb::find_metrics_layout(1, 3);
  }
  return gpu.gc < regdb::GcVersion{11, 5, 0} ? regdb::find_metrics_layout(2, 1)
                                             : regdb::find_metrics_layout(3, 0);
}

std::string channel_of(std::string_view file) {  // "power1_average": "power1"
  return std::string(file.substr(0, file.find('_')));
}

/// Lowest, current (else some level in between), highest, as smu_v13_0_4_print_clk_levels does.
std::string clock_levels(double lowest, double current, double between, double highest) {
  const auto line = [&](int level, double mhz) {
    return fmt::format("{}: {:.0f}Mhz {}\n", level, mhz,
                       std::llround(mhz) == std::llround(current) ? "*" : "");
  };
  const bool inside = current > lowest && current < highest;
  return line(0, lowest) + line(1, inside ? current : between) + line(2, highest);
}

std::int64_t boot_now_ns() {
  timespec time{};
  ::clock_gettime(CLOCK_BOOTTIME, &time);
  return time.tv_sec * kNsPerSecond + time.tv_nsec;
}

}  // namespace

std::vector<SysfsSensor> sysfs_sensors_of(const GpuModel& gpu, std::size_t index) {
  std::vector<SysfsSensor> sensors;
  for (const simulated_gpu::SensorFile& file : simulated_gpu::sensor_files()) {
    if (has(gpu, file)) {
      // amdgpu_vram_mgr.c and amdgpu_gtt_mgr.c ask the driver's own books.
      const bool wakes = !file.file.starts_with("mem_info_");
      sensors.push_back({.path = (file.hwmon ? hwmon_folder(index) : "") + std::string(file.file),
                         .file = &file,
                         .wakes = wakes});
    }
  }
  if (metrics_layout_of(gpu) != nullptr) {
    sensors.push_back({.path = "gpu_metrics", .kind = SensorKind::kMetrics});
  }
  sensors.push_back({.path = "pp_dpm_sclk", .kind = SensorKind::kGfxClockLevels});
  sensors.push_back({.path = "pp_dpm_mclk", .kind = SensorKind::kMemoryClockLevels});
  if (gpu.apu) {
    sensors.push_back({.path = std::string(kProcessorHwmon) + "/temp1_input",
                       .kind = SensorKind::kProcessor,
                       .processor = [](const SensorValues& v) { return 1000 * v.temperature_c; },
                       .wakes = false});
    sensors.push_back({.path = std::string(kEnergyZone) + "/energy_uj",
                       .kind = SensorKind::kProcessor,
                       .processor =
                           [](const SensorValues& v) {
                             return std::fmod(1e6 * v.package_j,
                                              static_cast<double>(kEnergyRangeUj));
                           },
                       .wakes = false});
  }
  return sensors;
}

SysfsTexts sensor_labels_of(const GpuModel& gpu, std::size_t index) {
  SysfsTexts texts{{hwmon_folder(index) + "name", "amdgpu\n"}};
  for (const simulated_gpu::SensorFile& file : simulated_gpu::sensor_files()) {
    const std::string path = hwmon_folder(index) + channel_of(file.file) + "_label";
    if (has(gpu, file) && !file.label.empty() && texts.back().first != path) {
      texts.emplace_back(path, std::string(file.label) + "\n");
    }
  }
  return texts;
}

SysfsTexts processor_texts() {
  return {{std::string(kProcessorHwmon) + "/name", "k10temp\n"},
          {std::string(kProcessorHwmon) + "/temp1_label", "Tctl\n"},
          {std::string(kEnergyZone) + "/name", "package-0\n"},
          {std::string(kEnergyZone) + "/max_energy_range_uj", fmt::format("{}\n", kEnergyRangeUj)}};
}

SysfsSensors::SysfsSensors(const GpuModel& gpu, std::size_t index,
                           std::shared_ptr<const RigSensors> sensors,
                           std::shared_ptr<RigControl> control)
    : gpu_(gpu),
      sensors_(std::move(sensors)),
      control_(std::move(control)),
      files_(sysfs_sensors_of(gpu, index)) {}

bool SysfsSensors::is_faulty(std::size_t sensor) const {
  const std::string& path = files_.at(sensor).path;
  const std::uint32_t number = control_->sensor_file;
  return number == 0 || sensor_file_number(path.substr(path.rfind('/') + 1)) == number;
}

SensorAnswer SysfsSensors::read(std::size_t sensor, std::int64_t now_ns) {
  const SysfsSensor& file = files_.at(sensor);
  ++control_->sensor_reads;
  if (file.kind == SensorKind::kMetrics) {
    ++control_->metrics_reads;
  }
  if (control_->suspended != 0 && file.kind != SensorKind::kProcessor) {
    ++control_->sensor_reads_while_suspended;
    if (file.wakes && control_->suspended.exchange(0) != 0) {  // pm_runtime_get_sync
      ++control_->touched_while_suspended;
    }
  }
  if (const auto error = static_cast<int>(control_->sensor_errno);
      error != 0 && is_faulty(sensor)) {
    return {error, {}};
  }
  const SensorValues values = sensors_->at(now_ns);
  return {0, file.kind == SensorKind::kMetrics ? metrics_bytes(values) : text_of(file, values)};
}

std::string SysfsSensors::text_of(const SysfsSensor& sensor, const SensorValues& values) const {
  constexpr double kRestingMhz = 400;
  switch (sensor.kind) {
    case SensorKind::kFile:
      if (control_->stuck_busy != 0 && sensor.path == "gpu_busy_percent") {
        return "100\n";
      }
      return sensor.file->text(*sensors_->model, values);
    case SensorKind::kGfxClockLevels:
      return clock_levels(kRestingMhz, values.gfx_clock_mhz, 1100, gpu_.max_engine_mhz);
    case SensorKind::kMemoryClockLevels:
      return clock_levels(kRestingMhz, values.memory_clock_mhz, 800, gpu_.max_memory_mhz);
    case SensorKind::kProcessor:
      return fmt::format("{:.0f}\n", std::floor(sensor.processor(values)));
    case SensorKind::kMetrics:
      break;
  }
  return {};
}

std::string SysfsSensors::metrics_bytes(const SensorValues& values) const {
  const regdb::MetricsLayout& layout = *metrics_layout_of(gpu_);
  std::string bytes(layout.size, '\0');
  simulated_gpu::write_metrics_table(layout, values, boot_now_ns(),
                                     std::as_writable_bytes(std::span(bytes)));
  constexpr std::size_t kHeader = 4;
  switch (static_cast<MetricsFault>(control_->metrics_fault.load())) {
    case MetricsFault::kNone:
      break;
    case MetricsFault::kEmpty:
      return {};
    case MetricsFault::kTorn:  // low bytes of one table, high bytes of another
      for (std::size_t i = kHeader + 1; i < layout.size / 2; i += 2) {
        bytes[i] = static_cast<char>(0xa7);
      }
      break;
    case MetricsFault::kAllZero:
      bytes.replace(kHeader, bytes.size() - kHeader, bytes.size() - kHeader, '\0');
      break;
    case MetricsFault::kTruncated:
      bytes.resize(layout.size - layout.size / 5);
      break;
    case MetricsFault::kUnknownRevision:
      bytes[2] = 9;
      break;
    case MetricsFault::kAllOnes:
      bytes.replace(kHeader, bytes.size() - kHeader, bytes.size() - kHeader,
                    static_cast<char>(0xff));
      break;
  }
  return bytes;
}

}  // namespace gputrace::rig
