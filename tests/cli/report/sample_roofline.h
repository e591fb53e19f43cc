// The roofline of a made-up run: figures like those of a Radeon 780M.
#pragma once

#include "cli/analysis/bench_result.h"

namespace gputrace::test {

/// Peaks of fp32 (with one for each subgroup size), fp16 and int32, four DRAM bandwidths, one cache
/// level, a sweep of eleven points of which one is suspect.
[[nodiscard]] analysis::BenchRun sample_roofline_run();

}  // namespace gputrace::test
