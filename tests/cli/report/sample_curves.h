// A run of the bench with curves, bars and a matrix, as its tests measure them.
#pragma once

#include "cli/analysis/bench_result.h"

namespace gputrace::test {

/// latency.vector with two inferred levels and a page's reach, latency.image, alu.fp32 with two
/// subgroup sizes, c2c.global of six groups, and a skipped test.
[[nodiscard]] analysis::BenchRun sample_curves();

}  // namespace gputrace::test
