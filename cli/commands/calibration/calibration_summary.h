// A calibration as the results of a recording: what `record` copies there, so that the file stands
// alone.
#pragma once

#include <optional>

#include "cli/analysis/calibration.h"
#include "daemon/store/results.h"

namespace gputrace::commands {

/// A test a workload, named "summary." and its name, with values: "intensity", "dram",
/// "arithmetic", "clock", "power", "group" (threads; source: the family), "class.bandwidth" (1),
/// and for each register "busy.GRBM_STATUS2": its samples, with a source "1920 12,-,0 0" of busy
/// ones and changes of each unit in the order of "summary.units" ("-" = not counted).
/// "summary.ceilings" has "peak.fp32" and "dram". Suspect workloads, and those without busy bits,
/// are left out.
[[nodiscard]] store::ResultRun summary_of(const analysis::Calibration& calibration);

[[nodiscard]] bool is_summary(const store::ResultRun& run);
/// Absent where the run is no summary. Values that are none of the above are left out.
[[nodiscard]] std::optional<analysis::Calibration> calibration_of(const store::ResultRun& run);

}  // namespace gputrace::commands
