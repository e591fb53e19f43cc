#include "cli/analysis/phase/stretch_sum.h"

#include <algorithm>
#include <cmath>

namespace gputrace::analysis {
namespace {

/// At least twice the number of batches, so that halving leaves enough.
constexpr std::size_t kMaxCells = 4 * kBatches;
/// Less than this share of a cell's samples says nothing of it.
constexpr double kHardlyKnown = 0.1;

void add_to(Cell& sum, const Cell& cell) {
  sum.samples += cell.samples;
  sum.busy += cell.busy;
  sum.changes += cell.changes;
}

}  // namespace

void ThinnedCells::add(const Cell& cell) {
  if (in_last_ == 0) {
    if (cells_.size() == kMaxCells) {
      halve();
    }
    cells_.push_back(cell);
  } else {
    add_to(cells_.back(), cell);
  }
  in_last_ = (in_last_ + 1) % factor_;
}

void ThinnedCells::halve() {
  for (std::size_t i = 0; i < cells_.size() / 2; ++i) {
    Cell sum = cells_[2 * i];
    add_to(sum, cells_[2 * i + 1]);
    cells_[i] = sum;
  }
  cells_.resize(cells_.size() / 2);
  factor_ *= 2;
}

void ThinnedCells::append(const ThinnedCells& later) {
  // Cells may differ in length: batches are weighted by their samples.
  cells_.insert(cells_.end(), later.cells_.begin(), later.cells_.end());
  factor_ = std::max(factor_, later.factor_);
  in_last_ = 0;
  while (cells_.size() > kMaxCells) {
    if (cells_.size() % 2 == 1) {
      cells_.emplace_back();
    }
    halve();
  }
}

void ThinnedCells::clear() {
  std::vector<Cell>().swap(cells_);  // an assignment would keep the memory
  in_last_ = 0;
}

void StretchSum::add(const BusyGrid& grid, std::size_t first, std::size_t last) {
  std::vector<std::uint32_t> valid(last - first);
  for (std::size_t u = 0; u < totals_.size(); ++u) {
    for (std::size_t i = first; i < last; ++i) {
      const Cell& cell = grid.units[u].cells[i];
      if (cell.samples > kHardlyKnown * grid.unknown[i]) {
        const double weight = cell.samples + grid.unknown[i];
        by_time_[u].busy += weight * cell.busy / cell.samples;
        by_time_[u].weight += weight;
      }
      totals_[u].samples += cell.samples;
      totals_[u].busy += cell.busy;
      totals_[u].changes += cell.changes;
      cells_[u].add(cell);
      valid[i - first] = std::max(valid[i - first], cell.samples);
    }
  }
  for (std::size_t i = first; i < last; ++i) {
    valid_ += valid[i - first];
    asleep_ += grid.asleep[i];
    unknown_ += grid.unknown[i];
    if (valid[i - first] <= kHardlyKnown * grid.unknown[i]) {
      unseen_ += grid.unknown[i];
    }
  }
}

void StretchSum::append(const StretchSum& later) {
  for (std::size_t u = 0; u < totals_.size(); ++u) {
    totals_[u].samples += later.totals_[u].samples;
    totals_[u].busy += later.totals_[u].busy;
    totals_[u].changes += later.totals_[u].changes;
    by_time_[u].busy += later.by_time_[u].busy;
    by_time_[u].weight += later.by_time_[u].weight;
    cells_[u].append(later.cells_[u]);
  }
  valid_ += later.valid_;
  asleep_ += later.asleep_;
  unknown_ += later.unknown_;
  unseen_ += later.unseen_;
}

void StretchSum::forget_cells() {
  for (ThinnedCells& cells : cells_) {
    cells.clear();
  }
}

double StretchSum::asleep_share() const {
  const std::uint64_t all = valid_ + asleep_ + unknown_;
  return all > 0 ? static_cast<double>(asleep_) / static_cast<double>(all) : 0;
}

double StretchSum::unknown_share() const {
  const std::uint64_t all = valid_ + asleep_ + unknown_;
  return all > 0 ? static_cast<double>(unknown_) / static_cast<double>(all) : 0;
}

double StretchSum::unseen_share() const {
  const std::uint64_t all = samples();
  return all > 0 ? static_cast<double>(unseen_) / static_cast<double>(all) : 0;
}

std::vector<BusyUnit> StretchSum::units(std::span<const UnitKey> keys) const {
  std::vector<BusyUnit> units;
  units.reserve(keys.size());
  for (std::size_t u = 0; u < keys.size(); ++u) {
    const Counts& total = totals_[u];
    const double busy = total.samples > 0
                            ? static_cast<double>(total.busy) / static_cast<double>(total.samples)
                            : 0;
    const double shift = unknown_ > 0 && by_time_[u].weight > 0
                             ? std::abs(by_time_[u].busy / by_time_[u].weight - busy)
                             : 0;
    units.push_back({.key = keys[u],
                     .busy = busy,
                     .counts = total,
                     .ci95 = ci95(total, cells_[u].cells()),
                     .missing_shift = shift});
  }
  return units;
}

}  // namespace gputrace::analysis
