// Counts of a stretch of a recording, added up cell by cell in little memory.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "cli/analysis/bottleneck.h"
#include "cli/analysis/busy_grid.h"
#include "cli/analysis/statistics.h"

namespace gputrace::analysis {

/// Cells in order of time of which neighbours are put together when they become many: what the
/// scatter of batch means needs.
class ThinnedCells {
 public:
  void add(const Cell& cell);
  /// `later` follows in time.
  void append(const ThinnedCells& later);
  [[nodiscard]] std::span<const Cell> cells() const { return cells_; }
  void clear();

 private:
  void halve();
  std::size_t factor_ = 1;   ///< cells that became one
  std::size_t in_last_ = 0;  ///< how many are in the last one
  std::vector<Cell> cells_;
};

class StretchSum {
 public:
  explicit StretchSum(std::size_t units) : totals_(units), by_time_(units), cells_(units) {}

  /// Cells [first, last) of a grid that follows in time.
  void add(const BusyGrid& grid, std::size_t first, std::size_t last);
  void append(const StretchSum& later);
  /// Gives back memory. Intervals are then those of the two-state model.
  void forget_cells();

  /// Whether anything at all was sampled: busy, asleep or unreadable.
  [[nodiscard]] bool empty() const { return samples() == 0; }
  /// Busy, idle, asleep or unreadable.
  [[nodiscard]] std::uint64_t samples() const { return valid_ + asleep_ + unknown_; }
  [[nodiscard]] double asleep_share() const;
  [[nodiscard]] double unknown_share() const;
  /// In cells of which hardly a sample is known.
  [[nodiscard]] double unseen_share() const;
  /// In the order of `keys`, which are those of the grids.
  [[nodiscard]] std::vector<BusyUnit> units(std::span<const UnitKey> keys) const;

 private:
  /// Shares of cells, each weighing what was sampled in it, known or not.
  struct ByTime {
    double busy = 0;
    double weight = 0;
  };
  std::vector<Counts> totals_;
  std::vector<ByTime> by_time_;
  std::vector<ThinnedCells> cells_;
  std::uint64_t valid_ = 0;  ///< of the unit with most, cell by cell
  std::uint64_t asleep_ = 0;
  std::uint64_t unknown_ = 0;
  std::uint64_t unseen_ = 0;
};

}  // namespace gputrace::analysis
