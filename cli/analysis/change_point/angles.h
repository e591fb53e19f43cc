// Cells as angles, the arcsine of the root of their busy share, row by row: what noise and scores
// are made of.
#pragma once

#include <cstddef>
#include <memory>
#include <vector>

#include "cli/analysis/change_point/cell_table.h"

namespace gputrace::analysis::change_point {

/// Variance-stabilising for a share of few samples (Anscombe, Biometrika 35, 1948).
[[nodiscard]] double arcsine(double busy, double samples);

/// Lanes that inner loops take at once.
inline constexpr std::size_t kLanes = 4;

/// Units with the same number of samples in each cell.
struct Group {
  std::size_t first_lane = 0;
  std::size_t lanes = 0;  ///< a multiple of kLanes
  double usual_samples = 0;
  std::vector<std::size_t> columns;  ///< of the table, of its first lanes
};

/// Which lane of a row a column of the table is.
struct LaneLayout {
  explicit LaneLayout(const CellTable& table);

  std::size_t lanes = 0;
  std::vector<Group> groups;
  std::vector<std::size_t> lane_of;   ///< each column
  std::vector<std::size_t> group_of;  ///< each column
};

/// A row for each cell. Angles without a sample are 0; lanes without a column repeat another.
class Angles {
 public:
  explicit Angles(const CellTable& table);

  [[nodiscard]] const LaneLayout& layout() const { return layout_; }
  [[nodiscard]] const double* row(std::size_t cell) const {
    return &rows_[(cell + 1) * layout_.lanes];
  }

 private:
  friend class Scores;  // which makes its sums in the same place

  LaneLayout layout_;
  std::unique_ptr<double[]> rows_;  // one more than cells: the first one is 0
};

}  // namespace gputrace::analysis::change_point
