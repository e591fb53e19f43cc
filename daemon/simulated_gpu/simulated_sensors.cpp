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

double idle_w(const GpuDescription& gpu) {
  return SteadySignal::idle_point(gpu).power_w;
}

/// Base and memory: what power_w() gives without a clock, at the point's traffic.
double soc_w(const GpuDescription& gpu, const OperatingPoint& point, bool works) {
  return works ? std::min(gpu.power_w(0, 0, point.dram_gbps(), 0), point.power_w - point.cpu_w)
               : point.power_w;
}

std::vector<PowerStep> power_steps(const Simulation& simulation) {
  std::vector<PowerStep> steps;
  std::int64_t begin_ns = 0;
  for (std::size_t i = 0; i < simulation.scenario().phases.size(); ++i) {
    const std::int64_t end_ns = begin_ns + simulation.scenario().phases[i].duration_ns;
    steps.push_back({begin_ns, end_ns, simulation.operating_point(i).power_w});
    begin_ns = end_ns;
  }
  return steps;
}

}  // namespace

SimulatedSensors::SimulatedSensors(std::shared_ptr<const Simulation> simulation)
    : simulation_(std::move(simulation)),
      power_(simulation_->model().thermal, idle_w(simulation_->scenario().gpu),
             power_steps(*simulation_)) {
  const Scenario& scenario = simulation_->scenario();
  for (std::size_t i = 0; i < scenario.phases.size(); ++i) {
    add_phase(simulation_->operating_point(i), scenario.phases[i].duration_ns,
              !scenario.phases[i].workload.passes.empty());
  }
  idle_.clock_mhz = SteadySignal::idle_point(scenario.gpu).clock_ghz * 1000;
  idle_.a_second.clock_cycles = idle_.clock_mhz;
}

void SimulatedSensors::add_phase(const OperatingPoint& point, std::int64_t duration_ns,
                                 bool works) {
  const GpuDescription& gpu = simulation_->scenario().gpu;
  PhaseLoad phase;
  phase.begin_ns = phases_.empty() ? 0 : phases_.back().end_ns;
  phase.end_ns = phase.begin_ns + duration_ns;
  phase.before = round_;
  phase.clock_mhz = point.clock_ghz * 1000;
  phase.works = works;
  phase.cpu_share = point.cpu_w / point.power_w;
  phase.gfx_share = 1 - phase.cpu_share - soc_w(gpu, point, works) / point.power_w;
  phase.a_second.clock_cycles = phase.clock_mhz;
  if (works) {
    const double period_s = point.length_ns * 1e-9;
    phase.a_second.dram_read_bytes = point.work.dram_read_bytes / period_s;
    phase.a_second.dram_written_bytes = point.work.dram_written_bytes / period_s;
  }
  const double seconds = seconds_of(duration_ns);
  round_.clock_cycles += phase.a_second.clock_cycles * seconds;
  round_.dram_read_bytes += phase.a_second.dram_read_bytes * seconds;
  round_.dram_written_bytes += phase.a_second.dram_written_bytes * seconds;
  phases_.push_back(phase);
}

const SimulatedSensors::PhaseLoad& SimulatedSensors::phase_at(std::int64_t time_ns) const {
  if (time_ns < 0) {
    return idle_;
  }
  const std::int64_t x_ns = time_ns % phases_.back().end_ns;
  std::size_t index = 0;
  while (phases_[index].end_ns <= x_ns) {
    ++index;
  }
  return phases_[index];
}

SimulatedSensors::Totals SimulatedSensors::totals_at(std::int64_t time_ns) const {
  const PhaseLoad& phase = phase_at(time_ns);
  const std::int64_t round_ns = phases_.back().end_ns;
  const std::int64_t whole_rounds = time_ns < 0 ? 0 : time_ns / round_ns;
  const auto rounds = static_cast<double>(whole_rounds);
  const double seconds = seconds_of(time_ns < 0 ? time_ns : time_ns % round_ns - phase.begin_ns);
  const auto total = [&](double Totals::* amount) {
    return rounds * round_.*amount + phase.before.*amount + phase.a_second.*amount * seconds;
  };
  return {total(&Totals::clock_cycles), total(&Totals::dram_read_bytes),
          total(&Totals::dram_written_bytes)};
}

double SimulatedSensors::energy_j(std::int64_t begin_ns, std::int64_t end_ns) const {
  return power_.energy_j(end_ns) - power_.energy_j(begin_ns);
}

double SimulatedSensors::dram_read_bytes(std::int64_t begin_ns, std::int64_t end_ns) const {
  return totals_at(end_ns).dram_read_bytes - totals_at(begin_ns).dram_read_bytes;
}

double SimulatedSensors::dram_written_bytes(std::int64_t begin_ns, std::int64_t end_ns) const {
  return totals_at(end_ns).dram_written_bytes - totals_at(begin_ns).dram_written_bytes;
}

double SimulatedSensors::gfx_activity(std::int64_t begin_ns, std::int64_t end_ns) const {
  return static_cast<double>(simulation_->busy_ns(Unit::kGui, begin_ns, end_ns)) /
         static_cast<double>(end_ns - begin_ns);
}

double SimulatedSensors::mean_gfx_clock_mhz(std::int64_t begin_ns, std::int64_t end_ns) const {
  return (totals_at(end_ns).clock_cycles - totals_at(begin_ns).clock_cycles) /
         seconds_of(end_ns - begin_ns);
}

SensorValues SimulatedSensors::at(std::int64_t time_ns) const {
  const GpuDescription& gpu = simulation_->scenario().gpu;
  const ThermalDescription& thermal = model().thermal;
  const std::int64_t window_ns = time_ns - kFirmwareWindowNs;
  const double window_s = seconds_of(kFirmwareWindowNs);
  const PhaseLoad& phase = phase_at(time_ns);
  const PowerState power = power_.at(time_ns);
  const Totals now = totals_at(time_ns);
  const Totals before = totals_at(window_ns);

  SensorValues values;
  values.package_j = power_.energy_j(time_ns);
  values.package_w = (values.package_j - power_.energy_j(window_ns)) / window_s;
  values.package_now_w = power.power_w;
  values.cpu_w = values.package_w * phase.cpu_share;
  values.gfx_w = values.package_w * phase.gfx_share;
  values.soc_w = values.package_w - values.cpu_w - values.gfx_w;
  values.temperature_c = power.temperature_c;
  values.junction_c = power.temperature_c + kJunctionPerWatt * power.power_w;
  values.fan_rpm =
      std::max(0.0, thermal.fan_knee_rpm +
                        thermal.fan_rpm_per_c * (power.temperature_c - thermal.fan_knee_c));
  values.gfx_clock_mhz = phase.clock_mhz;
  values.gfx_clock_average_mhz = (now.clock_cycles - before.clock_cycles) / window_s;
  values.memory_clock_mhz = phase.works ? model().memory_clock_mhz : kIdleMemoryClockMhz;
  values.gfx_v = kLowestVoltage * gpu.relative_voltage(phase.clock_mhz * 1e-3);
  values.soc_v = phase.works ? kSocWorkVoltage : kSocRestVoltage;
  values.gfx_activity = gfx_activity(window_ns, time_ns);
  values.cpu_dram_bytes = std::max(0.0, kCpuDramBytesPerS * seconds_of(time_ns));
  values.dram_read_bytes_per_s = (now.dram_read_bytes - before.dram_read_bytes) / window_s;
  values.dram_written_bytes_per_s = (now.dram_written_bytes - before.dram_written_bytes) / window_s;
  values.memory_activity =
      (values.dram_read_bytes_per_s + values.dram_written_bytes_per_s) / (gpu.dram_peak_gbps * 1e9);
  values.dram_read_bytes = now.dram_read_bytes;
  values.dram_written_bytes = now.dram_written_bytes;
  values.vram_used_bytes = kMib * (phase.works ? kVramAtWorkMib : kVramAtRestMib);
  values.gtt_used_bytes = kMib * (phase.works ? kGttAtWorkMib : kGttAtRestMib);
  return values;
}

}  // namespace gputrace::simulated_gpu
