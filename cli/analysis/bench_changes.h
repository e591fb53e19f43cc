// What differs around two runs of the bench: device, driver, code.
#pragma once

#include <span>
#include <string>
#include <vector>

#include "cli/analysis/bench_comparison.h"

namespace gputrace::analysis {

/// Device and driver first, then instructions and size of code: a pairing that appeared is not a
/// faster GPU.
[[nodiscard]] std::vector<BenchChange> changes_between(const BenchRun& a, const BenchRun& b);

/// Of all points with a figure. On a quiet machine a few percent do.
[[nodiscard]] double share_that_drifts(std::span<const BenchRun> runs);
/// More than that: the clock moved, or other programs ran beside.
inline constexpr double kMuchDrift = 0.2;

/// Why ratios of the two sides may mislead.
[[nodiscard]] std::vector<std::string> cautions_between(std::span<const BenchRun> a,
                                                        std::span<const BenchRun> b);

}  // namespace gputrace::analysis
