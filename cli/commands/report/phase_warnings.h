// What a recording cannot say about its phases, and what to do about it.
#pragma once

#include "cli/commands/report/session_grid.h"
#include "cli/report/report.h"

namespace gputrace::commands {

/// Units and phases of the report must be there.
void warn_phases(const GpuRecording& recording, const SessionGrid& grid, report::Report& report);

}  // namespace gputrace::commands
