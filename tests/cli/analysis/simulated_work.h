// Work on the simulated GPU, sampled at random instants of virtual time, and what its speed really
// follows: each part of the GPU is made faster in turn.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "daemon/simulated_gpu/kernels.h"
#include "tests/cli/analysis/class_profiles.h"

namespace gputrace::test {

struct SimulatedWork {
  std::string name;
  simulated_gpu::Workload workload;
  simulated_gpu::GpuDescription gpu;
  double clock_ghz = 2.4;
};

struct SimulatedSample {
  Stretch stretch;        ///< without a witness
  double dram_gbps = 0;   ///< while sampled, pauses included
  double work_share = 0;  ///< of the time in which the GPU works
};

/// `seconds` at 1 kHz.
[[nodiscard]] SimulatedSample sample(const SimulatedWork& work, double seconds, std::uint64_t seed);

/// How much faster the work becomes per part that a resource becomes faster: 1 = in step.
struct SpeedFollows {
  double bandwidth = 0;
  double latency = 0;
  double compute = 0;
  double texture = 0;
  double raster = 0;  ///< pixel output and launching waves

  [[nodiscard]] double of(analysis::Bottleneck bottleneck) const;
  /// The one that it follows by more than half; kCpu and kMixed have none.
  [[nodiscard]] analysis::Bottleneck limit() const;
};
[[nodiscard]] SpeedFollows what_speed_follows(const SimulatedWork& work);

}  // namespace gputrace::test
