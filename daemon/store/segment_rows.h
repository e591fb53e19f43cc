// Rows that describe a segment: itself, its registers, its units by name, its running totals.
#pragma once

#include <cstdint>
#include <vector>

#include "daemon/store/busy_rows.h"
#include "daemon/store/database.h"
#include "daemon/store/session.h"
#include "daemon/store/session_reader.h"

namespace gputrace::store {

struct InsertedSegment {
  std::int64_t id = 0;
  std::vector<BusyRows::Register> registers;
};
/// Units are the busy bits that the built-in register tables name; none for an unknown table.
[[nodiscard]] Result<InsertedSegment> insert_segment(Database& database,
                                                     const SegmentDescription& description);
[[nodiscard]] Status update_segment(Database& database, const InsertedSegment& segment,
                                    std::int64_t end_ns, const sampler::SamplingTotals& totals);

struct LoadedSegment {
  StoredSegment segment;
  std::vector<std::int64_t> register_ids;
};
/// Every value is checked: the rows may come from a stranger.
[[nodiscard]] Result<std::vector<LoadedSegment>> load_segments(Database& database);

}  // namespace gputrace::store
