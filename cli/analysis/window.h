// Cells of 100 ms put together: totals, and columns of equal length for a band over time.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "cli/analysis/statistics.h"

namespace gputrace::analysis {

[[nodiscard]] Counts sum(std::span<const Cell> cells);

/// Length of one column in cells so that `cells` fit into at most `columns` (> 0): a round number
/// (1, 1.5, 2, 3, 4, 5, 6 or 8 times a power of ten), at least 1.
[[nodiscard]] std::size_t round_column_length(std::size_t cells, std::size_t columns);

}  // namespace gputrace::analysis
