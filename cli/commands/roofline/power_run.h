// A power sweep on a device: the steps of PowerSweepSteps by kernels, sensors and the caller's
// command.
#pragma once

#include "cli/commands/roofline/power_sweep.h"
#include "cli/commands/roofline/roofline_options.h"
#include "kernels/bench/bench_test.h"

namespace gputrace::commands {

/// Says on stderr what it does.
[[nodiscard]] PowerSweep sweep_power(const PowerOptions& options, bench::TestContext& context,
                                     PowerSetter& setter);

}  // namespace gputrace::commands
