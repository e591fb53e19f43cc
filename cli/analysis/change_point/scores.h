// Cells on a scale on which their noise is 1: angles from their mean over their standard deviation,
// summed up from the first cell.
#pragma once

#include <cstddef>
#include <memory>
#include <span>
#include <vector>

#include "cli/analysis/change_point/angles.h"
#include "cli/analysis/change_point/cell_table.h"

namespace gputrace::analysis::change_point {

/// Cells between two changes.
inline constexpr std::size_t kMinCells = 3;

/// Lanes without a column are 0.
class Scores {
 public:
  /// `angles` are those of the table; sums take their place. `sigma` is of each column.
  Scores(const CellTable& table, std::span<const double> sigma, Angles&& angles);

  [[nodiscard]] std::size_t lanes() const { return layout_.lanes; }
  [[nodiscard]] std::span<const Group> groups() const { return layout_.groups; }
  /// Sums of the weighted scores of the cells before `cell`, of each lane.
  [[nodiscard]] const double* sums(std::size_t cell) const { return &sums_[cell * layout_.lanes]; }
  /// Sums of the weights of the cells before `cell`, of each group. A usual cell weighs 1.
  [[nodiscard]] const double* weights(std::size_t cell) const {
    return &weights_[cell * layout_.groups.size()];
  }
  [[nodiscard]] std::size_t lane_of_column(std::size_t column) const {
    return layout_.lane_of[column];
  }
  [[nodiscard]] std::size_t group_of_column(std::size_t column) const {
    return layout_.group_of[column];
  }

 private:
  LaneLayout layout_;
  std::unique_ptr<double[]> sums_;
  std::vector<double> weights_;
};

}  // namespace gputrace::analysis::change_point
