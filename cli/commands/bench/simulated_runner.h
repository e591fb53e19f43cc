// Runs kernels on the simulated GPU: nothing is compiled or computed; its model says how long each
// one takes, and a run takes that long.
#pragma once

#include <memory>
#include <string_view>

#include "daemon/base/result.h"
#include "daemon/base/time.h"
#include "kernels/bench/runner.h"

namespace gputrace::commands {

/// Standard deviation of the times of runs, by a fixed seed: so that spreads are not zero.
inline constexpr double kSimulatedScatter = 0.003;

/// What stands where a GPU's Vulkan driver and its version would.
inline constexpr std::string_view kSimulatedDriver = "simulated";
inline constexpr std::string_view kSimulatedDriverInfo = "a queueing model, no hardware";

/// `argument` as for --gpu: "sim:780m", "sim:780m:FILE.json" (whose power limit and GPU count).
/// Runs wait for their end on `clock` (null = CLOCK_MONOTONIC), so that a recorder beside them sees
/// the load. No proof of a result is possible: check_result() does nothing and succeeds, and
/// Runner::simulated() says so.
[[nodiscard]] Result<std::unique_ptr<bench::Runner>> open_simulated_runner(
    std::string_view argument, Clock* clock = nullptr);

}  // namespace gputrace::commands
