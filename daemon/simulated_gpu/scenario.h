// What the simulated GPU goes through: a list of phases, each a workload for some seconds. It
// begins again when it has ended.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "daemon/base/result.h"
#include "daemon/simulated_gpu/gpu_description.h"
#include "daemon/simulated_gpu/workload.h"

namespace gputrace::simulated_gpu {

struct ScenarioPhase {
  std::string label;  ///< "bandwidth"
  Workload workload;
  std::int64_t duration_ns = 0;
  int variants = 1;  ///< recorded periods: a power of two
};

struct Scenario {
  std::string name;
  std::string description;  ///< one line
  GpuDescription gpu;       ///< the model's, with what the scenario changes
  double power_limit_w = 0;
  std::uint64_t seed = 1;
  std::vector<ScenarioPhase> phases;

  [[nodiscard]] std::int64_t duration_ns() const;
};

/// Idle: for kernels that are played on the GPU.
inline constexpr std::string_view kBenchScenario = "bench";

struct BuiltInScenario {
  std::string_view name;
  std::string_view description;
};
/// The first is the default.
[[nodiscard]] const std::vector<BuiltInScenario>& built_in_scenarios();
/// kNotFound lists the known names.
[[nodiscard]] Result<Scenario> make_built_in_scenario(std::string_view name,
                                                      const SimulatedModel& model);

}  // namespace gputrace::simulated_gpu
