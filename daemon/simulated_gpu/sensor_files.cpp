#include "daemon/simulated_gpu/sensor_files.h"

#include <fmt/format.h>

#include <array>
#include <cmath>

namespace gputrace::simulated_gpu {

namespace {

using Sensors = SimulatedSensors;
using Values = SensorValues;

constexpr double kMib = 1024.0 * 1024;
constexpr double kGttMib = 16384;  // [A] half of the machine's memory

double vram_total(const Sensors& sensors, const Values& /*values*/) {
  return sensors.model().vram_mib * kMib;
}
double vram_used(const Sensors& /*sensors*/, const Values& values) {
  return values.vram_used_bytes;
}
double edge_c(const Sensors& /*sensors*/, const Values& values) {
  return values.temperature_c;
}

constexpr SensorFile hwmon(std::string_view file, std::string_view sensor, std::string_view label,
                           std::string_view unit, double step, double file_per_unit,
                           double (*value)(const Sensors&, const Values&)) {
  return {true, file, sensor, label, unit, step, file_per_unit, value};
}
constexpr SensorFile plain(std::string_view file, std::string_view sensor, std::string_view unit,
                           double (*value)(const Sensors&, const Values&)) {
  return {false, file, sensor, {}, unit, 1, 1, value};
}
constexpr SensorFile power(SensorFile file) {
  file.form = SensorFileForm::kPower;
  return file;
}
constexpr SensorFile apu_only(SensorFile file) {
  file.on_card = false;
  return file;
}
constexpr SensorFile card_only(SensorFile file) {
  file.on_apu = false;
  return file;
}

constexpr double kPowerStep = 1.0 / 256;

// As on a Radeon 780M and a Radeon RX 7900 XTX.
constexpr auto kFiles = std::to_array<SensorFile>({
    power(hwmon("power1_average", "package_power", "PPT", "W", kPowerStep, 1e6,
                [](const Sensors&, const Values& v) { return v.package_w; })),
    power(apu_only(hwmon("power1_input", "package_power", "PPT", "W", kPowerStep, 1e6,
                         [](const Sensors&, const Values& v) { return v.package_now_w; }))),
    card_only(hwmon("power1_cap", "power_cap", "PPT", "W", 1, 1e6,
                    [](const Sensors& s, const Values&) { return s.power_limit_w(); })),
    hwmon("temp1_input", "edge_temperature", "edge", "C", 1, 1000, edge_c),
    card_only(hwmon("temp2_input", "junction_temperature", "junction", "C", 1, 1000,
                    [](const Sensors&, const Values& v) { return v.junction_c; })),
    card_only(hwmon("temp3_input", "mem_temperature", "mem", "C", 1, 1000, edge_c)),
    hwmon("freq1_input", "gfx_clock", "sclk", "MHz", 1, 1e6,
          [](const Sensors&, const Values& v) { return v.gfx_clock_mhz; }),
    card_only(hwmon("freq2_input", "mem_clock", "mclk", "MHz", 1, 1e6,
                    [](const Sensors&, const Values& v) { return v.memory_clock_mhz; })),
    hwmon("in0_input", "gfx_voltage", "vddgfx", "V", 1e-3, 1e3,
          [](const Sensors&, const Values& v) { return v.gfx_v; }),
    apu_only(hwmon("in1_input", "soc_voltage", "vddnb", "V", 1e-3, 1e3,
                   [](const Sensors&, const Values& v) { return v.soc_v; })),
    card_only(hwmon("fan1_input", "fan_speed", "", "RPM", 1, 1,
                    [](const Sensors&, const Values& v) { return v.fan_rpm; })),
    plain("gpu_busy_percent", "gfx_activity", "%",
          [](const Sensors&, const Values& v) { return 100 * v.gfx_activity; }),
    card_only(plain("mem_busy_percent", "mem_activity", "%",
                    [](const Sensors&, const Values& v) { return 100 * v.memory_activity; })),
    apu_only(plain("vcn_busy_percent", "media_activity", "%",
                   [](const Sensors&, const Values&) { return 0.0; })),
    plain("mem_info_vram_used", "vram_used", "bytes", vram_used),
    plain("mem_info_vram_total", "vram_total", "bytes", vram_total),
    plain("mem_info_vis_vram_used", "visible_vram_used", "bytes", vram_used),
    plain("mem_info_vis_vram_total", "visible_vram_total", "bytes", vram_total),
    plain("mem_info_gtt_used", "gtt_used", "bytes",
          [](const Sensors&, const Values& v) { return v.gtt_used_bytes; }),
    plain("mem_info_gtt_total", "gtt_total", "bytes",
          [](const Sensors&, const Values&) { return kGttMib * kMib; }),
});

}  // namespace

double SensorFile::rounded_value(const SimulatedSensors& sensors,
                                 const SensorValues& values) const {
  return std::round(value(sensors, values) / step) * step;
}

std::string SensorFile::text(const SimulatedSensors& sensors, const SensorValues& values) const {
  if (form == SensorFileForm::kPower) {
    const auto raw = std::llround(value(sensors, values) / step);
    return fmt::format("{}\n", raw / 256 * 1'000'000 + raw % 256 * 1'000);
  }
  return fmt::format("{}\n", std::llround(rounded_value(sensors, values) * file_per_unit));
}

std::span<const SensorFile> sensor_files() {
  return kFiles;
}

}  // namespace gputrace::simulated_gpu
