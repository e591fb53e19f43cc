// Instruction caches from the rate of straight code by its size.
#pragma once

#include "cli/analysis/bench_result.h"

namespace gputrace::analysis::inference {

/// Appends "icache.N.size" to "icache.4B" and "icache.8B". What limits code of both encodings at
/// the same bytes is a cache; at the same number of instructions it is something else, and the
/// reading says so.
void read_code_caches(BenchRun& run);

}  // namespace gputrace::analysis::inference
