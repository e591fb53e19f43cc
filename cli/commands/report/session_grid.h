// A session's busy bits as a grid of cells: what the search for phases reads.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "cli/analysis/busy_grid.h"
#include "cli/commands/calibration/choose_calibration.h"
#include "cli/commands/report/report_units.h"
#include "daemon/store/session_reader.h"
#include "regdb/register_map.h"

namespace gputrace::commands {

struct CountedChunks;

/// All that a session says of one GPU.
struct GpuRecording {
  const store::SessionReader* session = nullptr;
  std::vector<const store::StoredSegment*> segments;  ///< of that GPU, in order of time
  regdb::RegisterMap map;
  Timeline timeline;
  std::int64_t session_start_ns = 0;
  std::shared_ptr<CountedChunks> counted = nullptr;  ///< see count_along()
};

/// A place for what another pass counts, so that the grid need not decode the file again; nullptr
/// where its chunks would not fit the grid.
[[nodiscard]] std::shared_ptr<CountedChunks> count_along(const GpuRecording& recording);
/// `counts` of the bits `refs`, from the start of the segment in chunks of UnitCollector.
void add_counted(const store::StoredSegment& segment, std::span<const store::BitRef> refs,
                 const store::SegmentCounts& counts, CountedChunks& counted);

struct SessionGrid {
  /// Units of the whole GPU, then those that only shader engines tell; no copies. A cell without a
  /// segment has no samples. Asleep and unknown are those of the register that is known best.
  /// Not for several threads. The session must outlive it.
  std::unique_ptr<analysis::GridSource> source;
  /// Percentages of another tool: cells are as long as its windows and there are no ticks.
  bool from_means = false;
  /// Its n is not told: see kStandInSamples. Counts are then of no use for intervals.
  bool stand_in_counts = false;
  /// By GUI_ACTIVE, where that was counted along.
  std::optional<LoadCells> load = std::nullopt;
};

/// Each window of percentages without n counts as so many independent samples: the fewest that the
/// search for changes takes, so that it claims as little as can be.
inline constexpr std::uint32_t kStandInSamples = 25;

/// Absent when there is nothing to make cells of: no segment, no known bit.
[[nodiscard]] Result<std::optional<SessionGrid>> make_session_grid(const GpuRecording& recording);

}  // namespace gputrace::commands
