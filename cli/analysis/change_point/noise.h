// How much cells differ without a change, and what that makes a change exceed.
#pragma once

#include <cstddef>
#include <vector>

#include "cli/analysis/change_point/angles.h"
#include "cli/analysis/change_point/cell_table.h"

namespace gputrace::analysis::change_point {

/// Of the cells of one chunk.
struct Noise {
  std::vector<double> sigma;  ///< of a usual cell of each column, in radians
  std::vector<bool> sparse;   ///< columns whose noise is rare bursts: most cells do not differ
  /// Of the differences of neighbouring cells: trace, Frobenius norm and largest eigenvalue of
  /// their covariance in units of sigma.
  double trace = 0;
  double frobenius = 0;
  double largest = 0;

  /// What the sum of squares exceeds without a change at one of `positions` cells in one recording
  /// of a hundred (Laurent, Massart, Annals of Statistics 28, 2000, lemma 1).
  [[nodiscard]] double penalty(std::size_t positions) const;
};

/// Differences of neighbours see what frames do and not what changes once.
[[nodiscard]] Noise measure_noise(const CellTable& table, const Angles& angles);

}  // namespace gputrace::analysis::change_point
