#include "cli/analysis/change_point/angles.h"

#include <algorithm>
#include <cmath>
#include <cstdint>

namespace gputrace::analysis::change_point {
namespace {

/// Cells whose rows fit into a core's first cache: each group of lanes writes into the same rows.
constexpr std::size_t kPieceCells = 128;

/// Counts occur again and again, so their arcsine is taken once.
class ArcsineTable {
 public:
  /// Arcsines by busy samples, below 0 where none was taken yet. Null where a table would be
  /// larger than what it saves.
  double* row(std::uint16_t samples) {
    if (samples >= kMaxRows) {
      return nullptr;
    }
    if (samples >= rows_.size()) {
      rows_.resize(samples + std::size_t{1});
    }
    std::vector<double>& row = rows_[samples];
    if (row.empty()) {
      row.assign(samples + std::size_t{1}, -1);
    }
    return row.data();
  }

 private:
  static constexpr std::uint16_t kMaxRows = 4096;
  std::vector<std::vector<double>> rows_;
};

/// Writes kLanes angles into each row.
class QuadWriter {
 public:
  QuadWriter(const CellTable& table, const Group& group, std::size_t quad) {
    for (std::size_t lane = 0; lane < kLanes; ++lane) {
      const std::size_t member = quad * kLanes + lane;
      from_[lane] =
          table.columns[group.columns[member < group.columns.size() ? member : 0]].cells.data();
    }
  }

  void write(std::size_t first, std::size_t last, ArcsineTable& arcsines, double* to,
             std::size_t step) const {
    std::uint16_t samples = 0;
    double* known = nullptr;
    for (std::size_t cell = first; cell < last; ++cell, to += step) {
      const std::uint16_t own = from_[0][cell].samples;
      if (own == 0) {
        std::fill_n(to, kLanes, 0.0);
        continue;
      }
      if (own != samples) {
        samples = own;
        known = arcsines.row(samples);
      }
      for (std::size_t lane = 0; lane < kLanes; ++lane) {
        const std::uint16_t busy = from_[lane][cell].busy;
        double angle = known == nullptr ? -1 : known[busy];
        if (angle < 0) {
          angle = arcsine(busy, samples);
          if (known != nullptr) {
            known[busy] = angle;
          }
        }
        to[lane] = angle;
      }
    }
  }

 private:
  const CellCounts* from_[kLanes] = {};
};

}  // namespace

double arcsine(double busy, double samples) {
  return std::asin(std::sqrt((busy + 0.375) / (samples + 0.75)));
}

LaneLayout::LaneLayout(const CellTable& table)
    : lane_of(table.columns.size()), group_of(table.columns.size()) {
  for (std::size_t column = 0; column < table.columns.size(); ++column) {
    const auto known = std::find_if(groups.begin(), groups.end(), [&](const Group& group) {
      return have_same_samples(table.columns[group.columns.front()], table.columns[column]);
    });
    group_of[column] = static_cast<std::size_t>(known - groups.begin());
    if (known == groups.end()) {
      groups.push_back({.first_lane = 0,
                        .lanes = 0,
                        .usual_samples = table.columns[column].usual_samples,
                        .columns = {column}});
    } else {
      known->columns.push_back(column);
    }
  }
  for (Group& group : groups) {
    group.first_lane = lanes;
    group.lanes = (group.columns.size() + kLanes - 1) / kLanes * kLanes;
    for (std::size_t i = 0; i < group.columns.size(); ++i) {
      lane_of[group.columns[i]] = lanes + i;
    }
    lanes += group.lanes;
  }
}

Angles::Angles(const CellTable& table)
    : layout_(table),
      rows_(std::make_unique_for_overwrite<double[]>((table.cells() + 1) * layout_.lanes)) {
  std::fill_n(rows_.get(), layout_.lanes, 0.0);
  ArcsineTable arcsines;
  for (std::size_t first = 0; first < table.cells(); first += kPieceCells) {
    const std::size_t last = std::min(table.cells(), first + kPieceCells);
    for (const Group& group : layout_.groups) {
      for (std::size_t quad = 0; quad < group.lanes / kLanes; ++quad) {
        QuadWriter(table, group, quad)
            .write(first, last, arcsines,
                   &rows_[(first + 1) * layout_.lanes + group.first_lane + quad * kLanes],
                   layout_.lanes);
      }
    }
  }
}

}  // namespace gputrace::analysis::change_point
