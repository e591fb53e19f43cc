// The second witnesses of a report: sensors and what follows from them, processes, frames.
#pragma once

#include <cstdint>

#include "cli/commands/report/report_units.h"
#include "cli/commands/report/sensor_set.h"
#include "cli/report/report.h"
#include "daemon/sampler/gpu_identity.h"
#include "daemon/store/session_reader.h"

namespace gputrace::commands {

/// Fills in what the file says of the stretch that `timeline` shows. The units must be there
/// already: sensors are compared with them.
[[nodiscard]] Status add_evidence(const store::SessionReader& session, const SensorSet& set,
                                  const Timeline& timeline, const sampler::GpuIdentity& gpu,
                                  std::int64_t session_start_ns, report::Report& report);

}  // namespace gputrace::commands
