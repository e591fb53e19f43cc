// Size of a cache from the share of accesses that it misses, which is known without noise.
#pragma once

#include <span>

#include "cli/analysis/inference/confidence.h"

namespace gputrace::analysis::inference {

struct ShareFit {
  Reading size;
  double error = 0;  ///< root of the mean square of what the shape does not explain, as a share
};

/// `missed`: of walks over `bytes`, which grow; both as long, three at least. The best of all
/// shapes, with the sizes that other shapes would say.
[[nodiscard]] ShareFit fit_missed_share(std::span<const double> bytes,
                                        std::span<const double> missed);

}  // namespace gputrace::analysis::inference
