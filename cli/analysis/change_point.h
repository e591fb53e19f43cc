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
  std::size_t cell = 0;
  double at_s = 0;  ///< from the session's start
};

/// In order of time, without the ends of the recording. What frames do within 100 ms is no change,
/// nor is anything that moves no unit by 5 points. Time and memory: see docs/methodology.md.
[[nodiscard]] Result<std::vector<ChangePoint>> find_change_points(const GridSource& source);

}  // namespace gputrace::analysis
