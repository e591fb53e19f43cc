// The recording by equal windows, for pictures: busy codes of each unit and sensors.
#pragma once

#include "cli/analysis/busy_grid.h"
#include "cli/commands/report/memory_witness.h"
#include "cli/commands/report/sensor_set.h"
#include "cli/report/report.h"

namespace gputrace::commands {

/// Windows of at least 100 ms, at most kMaxWindows of them; units that never worked have no row.
/// Tracks of every quantity, and "dram_traffic" in GB/s where bytes were counted. The first window
/// begins where the grid does.
[[nodiscard]] Result<report::Timeline> timeline_of(const analysis::GridSource& grid,
                                                   const SensorSet& sensors,
                                                   const MemoryTrack& memory,
                                                   const report::Report& report);

inline constexpr std::size_t kMaxWindows = 36'000;
inline constexpr std::size_t kMaxSensorWindows = 3'600;

}  // namespace gputrace::commands
