// DRAM traffic as the data fabric counts it: the amd_df PMU, for machines without amd_umc.
#pragma once

#include "daemon/os/sensors/perf_event.h"
#include "daemon/os/sensors/sensors.h"

namespace gputrace::os {

/// Zen 1 to 3: dram_traffic, reads and writes together. Zen 4 and 5: dram_read and dram_write.
/// What AMD documents for servers alone is said in `decision`. The events are chosen by family and
/// model in <proc>/cpuinfo; an unknown processor is not counted.
[[nodiscard]] OpenedSensors open_amd_df(const SystemRoots& roots, const PerfEventOpen& open);

}  // namespace gputrace::os
