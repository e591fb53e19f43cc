// Scenarios from JSON files, for tests and for trying what a report would say. A file may be
// hostile: every number has limits, and so has what the whole scenario costs to compute.
#pragma once

#include <string_view>

#include "daemon/base/result.h"
#include "daemon/simulated_gpu/scenario.h"

namespace gputrace::simulated_gpu {

[[nodiscard]] Result<Scenario> read_scenario_file(std::string_view path,
                                                  const SimulatedModel& model);
/// `name` becomes the scenario's name and is put in front of error messages, which name the key and
/// what is wrong with it.
[[nodiscard]] Result<Scenario> parse_scenario(std::string_view text, std::string_view name,
                                              const SimulatedModel& model);

}  // namespace gputrace::simulated_gpu
