// Cells on a scale on which their noise is 1: the arcsine of the root of the busy share over its
// standard deviation, summed up from the first cell.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "cli/analysis/change_point/cell_table.h"
#include "cli/analysis/change_point/noise.h"

namespace gputrace::analysis::change_point {

/// Cells between two changes.
inline constexpr std::size_t kMinCells = 3;

/// Lanes that the inner loops of the search take at once.
inline constexpr std::size_t kLanes = 4;

/// Units with the same number of samples in each cell. Their lanes are filled up with zeros.
struct Group {
  std::size_t first_lane = 0;
  std::size_t lanes = 0;
  double usual_samples = 0;
};

class Scores {
 public:
  Scores(const CellTable& table, std::span<const double> sigma, ArcsineTable& arcsines);

  [[nodiscard]] std::size_t lanes() const { return lanes_; }
  [[nodiscard]] std::span<const Group> groups() const { return groups_; }
  /// Sums of the weighted scores of the cells before `cell`, of each lane.
  [[nodiscard]] const double* sums(std::size_t cell) const { return &sums_[cell * lanes_]; }
  /// Sums of the weights of the cells before `cell`, of each group. A usual cell weighs 1.
  [[nodiscard]] const double* weights(std::size_t cell) const {
    return &weights_[cell * groups_.size()];
  }
  [[nodiscard]] std::size_t lane_of_column(std::size_t column) const { return lane_of_[column]; }
  [[nodiscard]] std::size_t group_of_column(std::size_t column) const { return group_of_[column]; }

 private:
  void make_groups(const CellTable& table);

  std::size_t lanes_ = 0;
  std::vector<Group> groups_;
  std::vector<std::size_t> lane_of_;
  std::vector<std::size_t> group_of_;
  std::vector<double> sums_;
  std::vector<double> weights_;
};

}  // namespace gputrace::analysis::change_point
