// Places changes between ticks: where the single samples beside a change fit its two sides best.
#pragma once

#include <cstddef>
#include <optional>
#include <span>

#include "cli/analysis/busy_grid.h"
#include "cli/analysis/change_point/cell_table.h"

namespace gputrace::analysis::change_point {

/// `cell` is the first behind the change, `before` and `behind` the ends of its two sides, all of
/// the table. At most two cells from `cell` and not beyond the middle of a side. Absent without
/// ticks there.
[[nodiscard]] Result<std::optional<double>> place_by_ticks(const GridSource& source,
                                                           const CellTable& table,
                                                           std::size_t before, std::size_t cell,
                                                           std::size_t behind);

/// The same for the beginning or the end of valid samples.
[[nodiscard]] Result<std::optional<double>> place_by_validity(const GridSource& source,
                                                              const CellTable& table,
                                                              std::size_t cell, bool valid_before);

}  // namespace gputrace::analysis::change_point
