// Cells of 100 ms put together: totals, and columns of equal length for a band over time.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "cli/analysis/statistics.h"

namespace gputrace::analysis {

[[nodiscard]] Counts sum(std::span<const Cell> cells);

/// Puts neighbouring cells together, so that a long session needs no more memory than a short one.
class CellMerger {
 public:
  explicit CellMerger(std::size_t factor) : factor_(factor) {}
  void add(const Cell& cell);
  [[nodiscard]] std::span<const Cell> cells() const { return cells_; }

 private:
  std::size_t factor_;       ///< cells that become one
  std::size_t in_last_ = 0;  ///< how many are in the last one
  std::vector<Cell> cells_;
};

/// Length of one column in cells so that `cells` fit into at most `columns` (> 0): a round number
/// (1, 1.5, 2, 3, 4, 5, 6 or 8 times a power of ten), at least 1.
[[nodiscard]] std::size_t round_column_length(std::size_t cells, std::size_t columns);

}  // namespace gputrace::analysis
