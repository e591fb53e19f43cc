// Line size, and pages and reach of TLBs, from chases with several strides.
#pragma once

#include <vector>

#include "cli/analysis/bench_result.h"
#include "cli/analysis/inference/confidence.h"

namespace gputrace::analysis::inference {

/// Appends "line.size", "tlb.N.reach", "tlb.N.page" and "tlb.N.entries" to "stride.jittered", or to
/// "stride.plain" alone. Returns the reaches.
std::vector<Reading> read_strides(BenchRun& run);

}  // namespace gputrace::analysis::inference
