// A calibration as the results of a recording: what `record` copies there, so that the file stands
// alone.
#pragma once

#include <optional>

#include "cli/analysis/calibration.h"
#include "daemon/store/results.h"

namespace gputrace::commands {

/// A test a workload, named "summary." and its name, with values: "intensity", "dram",
/// "arithmetic", "clock", "power", "group", "class.bandwidth" (1), "family.sweep" (1),
/// "busy.GRBM_STATUS2.EA_BUSY" (from 0 to 1; `source` has samples, busy ones and changes); and
/// "summary.ceilings" with "peak.fp32" and "dram". Suspect workloads, and those without busy bits,
/// are left out.
[[nodiscard]] store::ResultRun summary_of(const analysis::Calibration& calibration);

/// Absent where the run is no summary. Values that are none of the above are left out.
[[nodiscard]] std::optional<analysis::Calibration> calibration_of(const store::ResultRun& run);

}  // namespace gputrace::commands
