// How a segment was sampled, and which registers of its GPU say nothing in a report.
#pragma once

#include <optional>
#include <vector>

#include "cli/report/report.h"
#include "daemon/store/session_reader.h"
#include "regdb/register_map.h"

namespace gputrace::commands {

/// `states` are of the stretch shown, which is `shown_s` long; an import knows nothing of lateness,
/// sleep and cost.
[[nodiscard]] report::Sampling sampling_of(
    const store::StoredSegment& segment,
    const std::vector<store::SessionReader::StateCounts>& states, double shown_s, bool imported);

/// Of the samples; absent without any.
[[nodiscard]] std::optional<double> asleep_share_of(
    const std::vector<store::SessionReader::StateCounts>& counts);

/// Registers of the GPU's table that were not read, or gave no valid sample, with the reason.
/// Shader engines that the GPU does not have are left out.
[[nodiscard]] std::vector<report::UnknownRegister> unknown_registers(
    const regdb::RegisterMap& map, const store::StoredSegment& segment,
    const std::vector<store::SessionReader::StateCounts>& states, bool imported);

}  // namespace gputrace::commands
