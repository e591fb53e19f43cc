// When the busy fractions of a recording change: narrowest over threshold on seeded intervals
// (Baranowski, Chen, Fryzlewicz 2019; Kovacs, Buehlmann, Li, Munk 2023) over arcsine-transformed
// cells, with a penalty for correlated units (Laurent, Massart 2000).
#pragma once

#include <cstddef>
#include <vector>

#include "cli/analysis/busy_grid.h"
#include "daemon/base/result.h"

namespace gputrace::analysis {

/// The first cell behind a change, and its time, which ticks place more finely than the cell.
struct ChangePoint {
  std::size_t cell = 0;  ///< the edge of cells next to at_s; of neighbours never the same
  double at_s = 0;       ///< from the session's start
};

/// In order of time, without the ends of the recording. What frames do within 100 ms is no change,
/// nor is anything that lasts less than three cells or moves no unit by 5 points.
///
/// Falling asleep and waking are changes too, from 0.2 s on. So are both ends of a hole of 1 s or
/// more: a suspend, where there are no samples at all, or a time in which all were unknown. A cell
/// sleeps if more than half of its samples do. A shorter hole belongs to what is beside it.
///
/// With fewer than 25 samples in a usual cell, cells are put together until they have as many, up
/// to 5 s. Time is N log N with and without changes; recordings over two hours are read in parts,
/// which overlap. Errors are those of the source, and kCorrupt if its units and cells do not fit
/// together.
[[nodiscard]] Result<std::vector<ChangePoint>> find_change_points(const GridSource& source);

}  // namespace gputrace::analysis
