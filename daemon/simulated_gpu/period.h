// One period of a workload: a frame, or a dispatch and the pause before it.
#pragma once

#include <optional>
#include <vector>

#include "daemon/base/result.h"
#include "daemon/simulated_gpu/network.h"
#include "daemon/simulated_gpu/tape.h"

namespace gputrace::simulated_gpu {

struct PeriodOptions {
  double clock_ghz = 1;
  std::uint64_t seed = 1;
  double cpu_ms = 0;
  double weight = 0.5;  ///< place of this frame in the spread of frame weights, 0 to 1
  bool record_tape = true;
};

struct Period {
  double length_ns = 0;
  double gpu_ns = 0;  ///< without the host's pauses
  WorkDone work;      ///< all of it, repeats counted
  std::optional<Tape> tape;
};

/// kInvalidArgument when the period is too long for a tape or too uneven to be repeated.
[[nodiscard]] Result<Period> run_period(const GpuDescription& gpu, const Workload& workload,
                                        const PeriodOptions& options);

/// Steps of waves that run_period() will handle, for limits on what a scenario may cost.
[[nodiscard]] double count_wave_steps(const Workload& workload);

}  // namespace gputrace::simulated_gpu
