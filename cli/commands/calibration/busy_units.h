// Busy fractions of every bit of a recording in a stretch of time, counted from its samples.
#pragma once

#include <vector>

#include "cli/analysis/bottleneck.h"
#include "daemon/base/result.h"
#include "daemon/store/session_reader.h"
#include "regdb/register_database.h"
#include "regdb/register_map.h"

namespace gputrace::commands {

/// In the order of the segment's registers and of their bits in `map`. A bit with fewer valid
/// samples than an interval needs is left out.
[[nodiscard]] Result<std::vector<analysis::BusyUnit>> busy_units(
    const store::SessionReader& session, const store::StoredSegment& segment,
    const regdb::RegisterMap& map, const store::TimeSpan& span);

/// In the segment that was being recorded at the span's start; empty without one.
[[nodiscard]] Result<std::vector<analysis::BusyUnit>> busy_units_at(
    const store::SessionReader& session, const regdb::RegisterDatabase& regdb,
    const store::TimeSpan& span);

}  // namespace gputrace::commands
