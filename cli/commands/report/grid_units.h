// Which busy bits of a recording stand on its grid, and where each segment has them.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "cli/analysis/busy_grid.h"
#include "cli/commands/report/session_grid.h"

namespace gputrace::commands {

struct GridBit {
  store::BitRef ref;
  std::size_t unit = 0;  ///< index into GridLayout::units
};
struct SegmentLayout {
  const store::StoredSegment* segment = nullptr;
  std::vector<GridBit> bits;
};
struct GridLayout {
  std::vector<analysis::UnitKey> units;  ///< at most analysis::kMaxGridUnits
  std::vector<SegmentLayout> segments;
};

[[nodiscard]] GridLayout grid_layout(const GpuRecording& recording);

/// Of percentages; the layout's segments must hold some. nullptr without any in the shown stretch.
[[nodiscard]] Result<std::optional<SessionGrid>> make_mean_grid(const GpuRecording& recording,
                                                                const GridLayout& layout);

}  // namespace gputrace::commands
