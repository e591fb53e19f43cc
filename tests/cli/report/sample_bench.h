// Results of a bench with one of everything.
#pragma once

#include "cli/analysis/bench_result.h"

namespace gputrace::test {

/// Two series with points of every status, counts that agree, differ and are hidden, derived
/// values; a skipped and a failed test.
[[nodiscard]] analysis::BenchRun sample_bench();

}  // namespace gputrace::test
