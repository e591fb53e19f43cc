// Reads what the curves of a bench say: sizes of caches, lines, pages, slots, each with an
// interval, how sure it is, and what could not be told apart.
#pragma once

#include "cli/analysis/bench_result.h"

namespace gputrace::analysis {

/// Appends derived values to the tests that they were read from. Suspect and failed points say
/// nothing. A run without curves stays as it is.
void infer(BenchRun& run);

}  // namespace gputrace::analysis
