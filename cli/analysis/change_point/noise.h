// How much cells differ without a change, and what that makes a change exceed.
#pragma once

#include <array>
#include <cstddef>
#include <vector>

#include "cli/analysis/change_point/cell_table.h"

namespace gputrace::analysis::change_point {

/// Variance-stabilising for a share of few samples (Anscombe, Biometrika 35, 1948).
[[nodiscard]] double arcsine(double busy, double samples);

/// Counts occur again and again, so their arcsine is taken once.
class ArcsineTable {
 public:
  double at(const CellCounts& cell) {
    if (cell.samples >= rows_.size()) {
      return arcsine(cell.busy, cell.samples);
    }
    std::vector<double>& row = rows_[cell.samples];
    if (row.empty()) {
      row.assign(cell.samples + std::size_t{1}, -1);
    }
    double& value = row[cell.busy];
    if (value < 0) {
      value = arcsine(cell.busy, cell.samples);
    }
    return value;
  }

 private:
  std::array<std::vector<double>, 512> rows_;
};

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
[[nodiscard]] Noise measure_noise(const CellTable& table, ArcsineTable& arcsines);

}  // namespace gputrace::analysis::change_point
