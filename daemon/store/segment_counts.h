// Counts on the 100 ms grid, from bit planes; ticks are decoded only where a span cuts a cell.
#pragma once

#include <optional>
#include <span>
#include <vector>

#include "daemon/store/database.h"
#include "daemon/store/session_reader.h"

namespace gputrace::store {

[[nodiscard]] Result<SegmentCounts> count_segment(Database& database, const StoredSegment& segment,
                                                  std::span<const BitRef> bits,
                                                  std::optional<TimeSpan> span);
[[nodiscard]] Result<std::vector<SessionReader::StateCounts>> count_states(
    Database& database, const StoredSegment& segment, std::optional<TimeSpan> span);

}  // namespace gputrace::store
