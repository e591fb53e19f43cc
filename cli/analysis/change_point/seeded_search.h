// Narrowest over threshold (Baranowski, Chen, Fryzlewicz, J. R. Stat. Soc. B 81, 2019) on seeded
// intervals (Kovacs, Buehlmann, Li, Munk, Biometrika 110, 2023): time is N log N with and without
// changes.
#pragma once

#include <cstddef>
#include <optional>
#include <vector>

#include "cli/analysis/change_point/scores.h"

namespace gputrace::analysis::change_point {

/// Of an interval: 14 minutes of 100 ms. What needs more to be seen is not a change but a drift.
inline constexpr std::size_t kMaxIntervalCells = 8192;

struct Split {
  std::size_t cell = 0;  ///< the first behind the change
  double gain = 0;       ///< sum of squares that it explains, noise being 1
};

/// The best split of the cells first to last - 1, with kMinCells on each side.
[[nodiscard]] std::optional<Split> best_split(const Scores& scores, std::size_t first,
                                              std::size_t last);

/// Changes between first and last - 1, in order, that exceed the penalty.
[[nodiscard]] std::vector<std::size_t> search(const Scores& scores, std::size_t first,
                                              std::size_t last, double penalty);

}  // namespace gputrace::analysis::change_point
