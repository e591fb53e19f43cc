#include "daemon/simulated_gpu/load_course.h"

#include <algorithm>

namespace gputrace::simulated_gpu {

namespace {

double seconds_of(std::int64_t ns) {
  return static_cast<double>(ns) * 1e-9;
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

Load load_of(const GpuDescription& gpu, const OperatingPoint& point, bool works) {
  // Base and memory: what power_w() gives without a clock, at the point's traffic.
  const double soc_w =
      works ? std::min(gpu.power_w(0, 0, point.dram_gbps(), 0), point.power_w - point.cpu_w)
            : point.power_w;
  Load load;
  load.steady_w = point.power_w;
  load.cpu_share = point.cpu_w / point.power_w;
  load.gfx_share = 1 - load.cpu_share - soc_w / point.power_w;
  load.clock_mhz = point.clock_ghz * 1000;
  load.works = works;
  if (works) {
    const double period_s = point.length_ns * 1e-9;
    load.dram_read_bytes_per_s = point.work.dram_read_bytes / period_s;
    load.dram_written_bytes_per_s = point.work.dram_written_bytes / period_s;
  }
  return load;
}

void LoadTotals::add(const Load& load, double seconds) {
  clock_cycles += load.clock_mhz * seconds;
  dram_read_bytes += load.dram_read_bytes_per_s * seconds;
  dram_written_bytes += load.dram_written_bytes_per_s * seconds;
}

LoadCourse::LoadCourse(const Simulation& simulation)
    : idle_{.clock_mhz = SteadySignal::idle_point(simulation.scenario().gpu).clock_ghz * 1000},
      power_(simulation.model().thermal,
             SteadySignal::idle_point(simulation.scenario().gpu).power_w, power_steps(simulation)) {
  const Scenario& scenario = simulation.scenario();
  std::int64_t begin_ns = 0;
  for (std::size_t i = 0; i < scenario.phases.size(); ++i) {
    const std::int64_t duration_ns = scenario.phases[i].duration_ns;
    const bool works = !scenario.phases[i].workload.passes.empty();
    phases_.push_back({.begin_ns = begin_ns,
                       .end_ns = begin_ns + duration_ns,
                       .before = round_,
                       .load = load_of(scenario.gpu, simulation.operating_point(i), works)});
    round_.add(phases_.back().load, seconds_of(duration_ns));
    begin_ns += duration_ns;
  }
}

const LoadCourse::Phase& LoadCourse::phase_at(std::int64_t round_ns) const {
  std::size_t index = 0;
  while (phases_[index].end_ns <= round_ns) {
    ++index;
  }
  return phases_[index];
}

const Load& LoadCourse::load_at(std::int64_t time_ns) const {
  return time_ns < 0 ? idle_ : phase_at(time_ns % phases_.back().end_ns).load;
}

LoadTotals LoadCourse::totals_at(std::int64_t time_ns) const {
  LoadTotals totals;
  if (time_ns < 0) {
    totals.add(idle_, seconds_of(time_ns));
  } else {
    const std::int64_t round_ns = phases_.back().end_ns;
    const std::int64_t whole_rounds = time_ns / round_ns;
    const auto rounds = static_cast<double>(whole_rounds);
    const Phase& phase = phase_at(time_ns % round_ns);
    totals.clock_cycles = rounds * round_.clock_cycles + phase.before.clock_cycles;
    totals.dram_read_bytes = rounds * round_.dram_read_bytes + phase.before.dram_read_bytes;
    totals.dram_written_bytes =
        rounds * round_.dram_written_bytes + phase.before.dram_written_bytes;
    totals.add(phase.load, seconds_of(time_ns % round_ns - phase.begin_ns));
  }
  totals.energy_j = power_.energy_j(time_ns);
  return totals;
}

}  // namespace gputrace::simulated_gpu
