#include "daemon/simulated_gpu/simulated_sensors.h"

#include <algorithm>
#include <utility>

namespace gputrace::simulated_gpu {

namespace {

constexpr double kMib = 1024.0 * 1024;
constexpr double kLowestVoltage = 0.65;      ///< below the knee; 1.18 V at 2.6 GHz [A]
constexpr double kSocRestVoltage = 0.615;    // [A]
constexpr double kSocWorkVoltage = 0.8;      // [A]
constexpr double kJunctionPerWatt = 0.06;    // [A]
constexpr double kIdleMemoryClockMhz = 400;  // [A]
/// No machine's memory rests. Little beside any load's, so that the GPU's traffic stays exact [A].
constexpr double kCpuDramBytesPerS = 2e6;
// What a desktop and what a program hold [A].
constexpr double kVramAtRestMib = 600;
constexpr double kVramAtWorkMib = 1800;
constexpr double kGttAtRestMib = 200;
constexpr double kGttAtWorkMib = 700;

double seconds_of(std::int64_t ns) {
  return static_cast<double>(ns) * 1e-9;
}

}  // namespace

SimulatedSensors::SimulatedSensors(std::shared_ptr<const Playback> playback)
    : playback_(std::move(playback)) {}

SimulatedSensors::SimulatedSensors(std::shared_ptr<const Simulation> simulation)
    : playback_(std::make_shared<const Playback>(std::move(simulation))) {}

double SimulatedSensors::energy_j(std::int64_t begin_ns, std::int64_t end_ns) const {
  return playback_->totals_at(end_ns).energy_j - playback_->totals_at(begin_ns).energy_j;
}

double SimulatedSensors::dram_read_bytes(std::int64_t begin_ns, std::int64_t end_ns) const {
  return playback_->totals_at(end_ns).dram_read_bytes -
         playback_->totals_at(begin_ns).dram_read_bytes;
}

double SimulatedSensors::dram_written_bytes(std::int64_t begin_ns, std::int64_t end_ns) const {
  return playback_->totals_at(end_ns).dram_written_bytes -
         playback_->totals_at(begin_ns).dram_written_bytes;
}

double SimulatedSensors::gfx_activity(std::int64_t begin_ns, std::int64_t end_ns) const {
  return static_cast<double>(playback_->busy_ns(Unit::kGui, begin_ns, end_ns)) /
         static_cast<double>(end_ns - begin_ns);
}

double SimulatedSensors::mean_gfx_clock_mhz(std::int64_t begin_ns, std::int64_t end_ns) const {
  return (playback_->totals_at(end_ns).clock_cycles - playback_->totals_at(begin_ns).clock_cycles) /
         seconds_of(end_ns - begin_ns);
}

SensorValues SimulatedSensors::at(std::int64_t time_ns) const {
  const GpuDescription& gpu = playback_->simulation().scenario().gpu;
  const ThermalDescription& thermal = model().thermal;
  const std::int64_t window_ns = time_ns - kFirmwareWindowNs;
  const double window_s = seconds_of(kFirmwareWindowNs);
  const Load load = playback_->load_at(time_ns);
  const PowerState power = playback_->power_at(time_ns);
  const LoadTotals now = playback_->totals_at(time_ns);
  const LoadTotals before = playback_->totals_at(window_ns);

  SensorValues values;
  values.package_j = now.energy_j;
  values.package_w = (now.energy_j - before.energy_j) / window_s;
  values.package_now_w = power.power_w;
  values.cpu_w = values.package_w * load.cpu_share;
  values.gfx_w = values.package_w * load.gfx_share;
  values.soc_w = values.package_w - values.cpu_w - values.gfx_w;
  values.temperature_c = power.temperature_c;
  values.junction_c = power.temperature_c + kJunctionPerWatt * power.power_w;
  values.fan_rpm =
      std::max(0.0, thermal.fan_knee_rpm +
                        thermal.fan_rpm_per_c * (power.temperature_c - thermal.fan_knee_c));
  values.gfx_clock_mhz = load.clock_mhz;
  values.gfx_clock_average_mhz = (now.clock_cycles - before.clock_cycles) / window_s;
  values.memory_clock_mhz = load.works ? model().memory_clock_mhz : kIdleMemoryClockMhz;
  values.gfx_v = kLowestVoltage * gpu.relative_voltage(load.clock_mhz * 1e-3);
  values.soc_v = load.works ? kSocWorkVoltage : kSocRestVoltage;
  values.gfx_activity = gfx_activity(window_ns, time_ns);
  values.cpu_dram_bytes = std::max(0.0, kCpuDramBytesPerS * seconds_of(time_ns));
  values.dram_read_bytes_per_s = (now.dram_read_bytes - before.dram_read_bytes) / window_s;
  values.dram_written_bytes_per_s = (now.dram_written_bytes - before.dram_written_bytes) / window_s;
  values.memory_activity =
      (values.dram_read_bytes_per_s + values.dram_written_bytes_per_s) / (gpu.dram_peak_gbps * 1e9);
  values.dram_read_bytes = now.dram_read_bytes;
  values.dram_written_bytes = now.dram_written_bytes;
  values.vram_used_bytes = kMib * (load.works ? kVramAtWorkMib : kVramAtRestMib);
  values.gtt_used_bytes = kMib * (load.works ? kGttAtWorkMib : kGttAtRestMib);
  return values;
}

}  // namespace gputrace::simulated_gpu
