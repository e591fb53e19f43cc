// Phases of a report: what limited the GPU when, with the units, sensors and the position on the
// roofline of each; and the recording by windows, for pictures.
#pragma once

#include "cli/commands/report/report_builder.h"
#include "cli/commands/report/sensor_set.h"
#include "cli/commands/report/session_grid.h"
#include "cli/report/report.h"

namespace gputrace::commands {

/// Fills in phases, machine and (if asked for) timeline, and adds warnings. Units and sensors of
/// the report must be there already.
Status add_phases(const GpuRecording& recording, const SensorSet& sensors,
                  const ReportOptions& options, report::Report& report);

}  // namespace gputrace::commands
