#include "cli/analysis/change_point/scores.h"

#include <cstdint>
#include <utility>

namespace gputrace::analysis::change_point {
namespace {

/// From samples of a cell and its angle to its weighted score, of each lane.
struct Scales {
  std::vector<double> centre;  ///< sums from the mean stay small and keep their digits
  std::vector<double> scale;   ///< from samples to weight over noise; 0: an unused lane
};

Scales scales_of(const CellTable& table, std::span<const double> sigma, const LaneLayout& layout) {
  Scales scales{std::vector<double>(layout.lanes), std::vector<double>(layout.lanes)};
  for (std::size_t c = 0; c < table.columns.size(); ++c) {
    const Column& column = table.columns[c];
    std::uint64_t samples = 0;
    std::uint64_t busy = 0;
    for (const CellCounts& cell : column.cells) {
      samples += cell.samples;
      busy += cell.busy;
    }
    if (samples > 0 && column.usual_samples > 0) {
      scales.centre[layout.lane_of[c]] =
          arcsine(static_cast<double>(busy), static_cast<double>(samples));
      scales.scale[layout.lane_of[c]] = 1 / (column.usual_samples * sigma[c]);
    }
  }
  return scales;
}

}  // namespace

Scores::Scores(const CellTable& table, std::span<const double> sigma, Angles&& angles)
    : layout_(std::move(angles.layout_)),
      sums_(std::move(angles.rows_)),
      weights_((table.cells() + 1) * layout_.groups.size()) {
  const Scales scales = scales_of(table, sigma, layout_);
  for (std::size_t g = 0; g < layout_.groups.size(); ++g) {
    const Group& group = layout_.groups[g];
    const CellCounts* counts = table.columns[group.columns.front()].cells.data();
    const double* centre = &scales.centre[group.first_lane];
    const double* scale = &scales.scale[group.first_lane];
    double* row = &sums_[group.first_lane];
    double* weight = &weights_[g];
    std::uint64_t all_samples = 0;
    for (std::size_t cell = 0; cell < table.cells(); ++cell) {
      const double* before = row;
      row += layout_.lanes;
      weight += layout_.groups.size();
      const double samples = counts[cell].samples;
      for (std::size_t lane = 0; lane < group.lanes; ++lane) {
        row[lane] = before[lane] + samples * scale[lane] * (row[lane] - centre[lane]);
      }
      all_samples += counts[cell].samples;
      *weight =
          group.usual_samples > 0 ? static_cast<double>(all_samples) / group.usual_samples : 0;
    }
  }
}

}  // namespace gputrace::analysis::change_point
