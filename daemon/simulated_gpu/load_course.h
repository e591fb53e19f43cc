// What the phases of a scenario do to clock, power and memory in the course of time: all that the
// sensors of the simulated GPU show besides its busy bits.
#pragma once

#include <cstdint>
#include <vector>

#include "daemon/simulated_gpu/power_course.h"
#include "daemon/simulated_gpu/simulation.h"

namespace gputrace::simulated_gpu {

/// Of a phase, or of a kernel that is played.
struct Load {
  double steady_w = 0;   ///< of the package
  double gfx_share = 0;  ///< of steady_w
  double cpu_share = 0;
  double clock_mhz = 0;
  double dram_read_bytes_per_s = 0;
  double dram_written_bytes_per_s = 0;
  bool works = false;
};
[[nodiscard]] Load load_of(const GpuDescription& gpu, const OperatingPoint& point, bool works);

/// Since the scenario's begin; before it only the clock runs and power is drawn, both negative.
struct LoadTotals {
  double clock_cycles = 0;  ///< in millions
  double dram_read_bytes = 0;
  double dram_written_bytes = 0;
  double energy_j = 0;

  /// Of `seconds` of a load, but for the energy.
  void add(const Load& load, double seconds);
};

/// Times are nanoseconds since the scenario's begin. Before it the GPU is idle; after the last
/// phase the first one follows.
class LoadCourse {
 public:
  explicit LoadCourse(const Simulation& simulation);

  [[nodiscard]] const Load& load_at(std::int64_t time_ns) const;
  [[nodiscard]] LoadTotals totals_at(std::int64_t time_ns) const;
  [[nodiscard]] const PowerCourse& power() const { return power_; }

 private:
  struct Phase {
    std::int64_t begin_ns = 0;
    std::int64_t end_ns = 0;
    LoadTotals before;  ///< from the round's begin until begin_ns, without the energy
    Load load;
  };
  [[nodiscard]] const Phase& phase_at(std::int64_t round_ns) const;

  Load idle_;
  std::vector<Phase> phases_;
  LoadTotals round_;
  PowerCourse power_;
};

}  // namespace gputrace::simulated_gpu
