// Where a recording falls asleep, wakes, or has a hole: changes that need no test.
#pragma once

#include <cstddef>
#include <span>
#include <vector>

#include "cli/analysis/change_point/cell_table.h"

namespace gputrace::analysis::change_point {

struct Stretch {
  std::size_t first = 0;
  std::size_t last = 0;  ///< the cell behind it
  CellState state = CellState::kAwake;
};

/// All cells, in order, neighbours of different states. Sleep or waking of a single cell and holes
/// under a second belong to what is beside them.
[[nodiscard]] std::vector<Stretch> find_stretches(std::span<const CellState> states, double cell_s);

}  // namespace gputrace::analysis::change_point
