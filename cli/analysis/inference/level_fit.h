// Levels of a hierarchy from a curve of cost by working set: a base and, for each level that no
// longer holds it all, what a miss adds.
#pragma once

#include <cstddef>
#include <vector>

#include "cli/analysis/inference/curve.h"
#include "cli/analysis/inference/miss_shapes.h"

namespace gputrace::analysis::inference {

struct FittedLevel {
  double size = 0;
  double lower = 0;  ///< what the likelihood does not rule out
  double upper = 0;
  double added = 0;  ///< cost of a miss
  double cost = 0;   ///< of what this level serves
  double cost_lower = 0;
  double cost_upper = 0;
  MissShape shape = MissShape::kSharp;
  /// Twice the logarithm of how much likelier the curve is with this level than without.
  double gain = 0;
  std::size_t points_behind = 0;  ///< how many are at larger sizes
};

struct LevelFit {
  std::vector<FittedLevel> levels;  ///< the nearest first
  double last_cost = 0;             ///< of what no level serves
  double last_lower = 0;
  double last_upper = 0;
  double scatter = 0;  ///< of points about the fit, as a share
};

/// Costs are positive and grow with the size; where they fall nothing is found. Fewer than five
/// points are no curve: an empty fit.
[[nodiscard]] LevelFit fit_levels(const Curve& curve);

}  // namespace gputrace::analysis::inference
