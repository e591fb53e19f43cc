// DRAM traffic as the memory controllers count it: the amd_umc PMUs (Zen 4 and later, Linux 6.7).
#pragma once

#include "daemon/os/sensors/perf_event.h"
#include "daemon/os/sensors/sensors.h"

namespace gputrace::os {

/// dram_read and dram_write, bytes of the whole machine.
[[nodiscard]] OpenedSensors open_amd_umc(const SystemRoots& roots, const PerfEventOpen& open);

}  // namespace gputrace::os
