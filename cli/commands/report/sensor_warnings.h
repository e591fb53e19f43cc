// Where sensors contradict each other or the busy bits, stand still, or are missing.
#pragma once

#include <vector>

#include "cli/report/report.h"

namespace gputrace::commands {

/// Whether a busy percentage says 100 % (or 0) in all readings although GUI_ACTIVE disagrees.
[[nodiscard]] bool is_activity_stuck(const report::Sensor& sensor, const report::Report& report);

void warn_sensors(const report::Report& report, std::vector<report::Warning>& out);

}  // namespace gputrace::commands
