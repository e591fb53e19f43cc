// Changes that only memory's witness shows: busy bits look alike whether DRAM is at its limit or
// waited for.
#pragma once

#include <vector>

#include "cli/analysis/phase.h"

namespace gputrace::analysis {

/// Moments between `start_s` and `end_s`, in order, at which DRAM's use went from its limit to
/// clearly below, or back, for some seconds. None without a witness.
[[nodiscard]] std::vector<double> find_memory_changes(const WitnessOf& witness, double start_s,
                                                      double end_s);

}  // namespace gputrace::analysis
