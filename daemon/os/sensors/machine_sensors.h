// What open_machine_sensors() of sensors.h is made of. Internal to daemon/os, but for tests, which
// pass another way to open PMU counters.
#pragma once

#include "daemon/os/sensors/perf_event.h"
#include "daemon/os/sensors/sensors.h"

namespace gputrace::os {

[[nodiscard]] OpenedSensors open_machine_sensors(const SystemRoots& roots,
                                                 const PerfEventOpen& open);

void append(OpenedSensors more, OpenedSensors& all);

}  // namespace gputrace::os
