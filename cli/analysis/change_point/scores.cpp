#include "cli/analysis/change_point/scores.h"

#include <algorithm>

namespace gputrace::analysis::change_point {
namespace {

bool same_samples(const Column& a, const Column& b) {
  return std::equal(
      a.cells.begin(), a.cells.end(), b.cells.begin(), b.cells.end(),
      [](const CellCounts& x, const CellCounts& y) { return x.samples == y.samples; });
}

}  // namespace

void Scores::make_groups(const CellTable& table) {
  std::vector<std::vector<std::size_t>> members;
  for (std::size_t column = 0; column < table.columns.size(); ++column) {
    const auto known = std::find_if(members.begin(), members.end(), [&](const auto& group) {
      return same_samples(table.columns[group.front()], table.columns[column]);
    });
    if (known == members.end()) {
      members.push_back({column});
    } else {
      known->push_back(column);
    }
  }
  lane_of_.resize(table.columns.size());
  group_of_.resize(table.columns.size());
  for (const std::vector<std::size_t>& group : members) {
    for (std::size_t i = 0; i < group.size(); ++i) {
      lane_of_[group[i]] = lanes_ + i;
      group_of_[group[i]] = groups_.size();
    }
    const std::size_t lanes = (group.size() + kLanes - 1) / kLanes * kLanes;
    groups_.push_back({lanes_, lanes, table.columns[group.front()].usual_samples});
    lanes_ += lanes;
  }
}

Scores::Scores(const CellTable& table, std::span<const double> sigma, ArcsineTable& arcsines) {
  make_groups(table);
  sums_.resize((table.cells() + 1) * lanes_);
  weights_.resize((table.cells() + 1) * groups_.size());
  // From the mean: sums stay small and keep their digits.
  std::vector<double> centre(table.columns.size());
  for (std::size_t c = 0; c < table.columns.size(); ++c) {
    double samples = 0;
    double busy = 0;
    for (const CellCounts& cell : table.columns[c].cells) {
      samples += cell.samples;
      busy += cell.busy;
    }
    centre[c] = samples > 0 ? arcsine(busy, samples) : 0;
  }
  for (std::size_t cell = 0; cell < table.cells(); ++cell) {
    double* row = &sums_[(cell + 1) * lanes_];
    std::copy(row - lanes_, row, row);
    double* weight_row = &weights_[(cell + 1) * groups_.size()];
    std::copy(weight_row - groups_.size(), weight_row, weight_row);
    std::size_t seen_groups = 0;
    for (std::size_t c = 0; c < table.columns.size(); ++c) {
      const Column& column = table.columns[c];
      const CellCounts& counts = column.cells[cell];
      if (counts.samples == 0) {
        seen_groups += group_of_[c] == seen_groups ? 1U : 0U;
        continue;
      }
      const double weight = counts.samples / column.usual_samples;
      row[lane_of_[c]] += weight * (arcsines.at(counts) - centre[c]) / sigma[c];
      if (group_of_[c] == seen_groups) {  // the group's first member
        weight_row[seen_groups++] += weight;
      }
    }
  }
}

}  // namespace gputrace::analysis::change_point
