// Sizes of caches from histograms of single hops: what a level serves of each
// working set.
#pragma once

#include <vector>

#include "cli/analysis/bench_result.h"

namespace gputrace::analysis::inference {

struct ServedLevel {
  double size = 0;
  double lower = 0;
  double upper = 0;
  double clocks = 0;  ///< of a hop that it serves, at the peak of the histogram
};

/// `hops` has a series for each working set, named by its size, of shares by clocks. Levels are
/// separate peaks of all histograms together; how the share of hops as fast as a level's own, or
/// faster, falls with the working set says its size. A peak whose bytes still grow at the largest
/// set is none of a cache.
[[nodiscard]] std::vector<ServedLevel> levels_by_share(const TestResult& hops);

}  // namespace gputrace::analysis::inference
