// Bandwidth of each level: the rates of the working sets that it serves.
#pragma once

#include <span>

#include "cli/analysis/bench_result.h"
#include "cli/analysis/inference/latency_levels.h"

namespace gputrace::analysis::inference {

/// Appends "level.N.read" (write, copy) and "dram.read" to a test of bandwidth: the median over the
/// sizes that level N of `levels` holds and the one before does not; without `levels` those that
/// its own curve shows, whose sizes are appended too.
void read_rates(TestResult& bandwidth, std::span<const LevelRead> levels);

}  // namespace gputrace::analysis::inference
