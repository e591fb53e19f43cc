// Energy of the CPU package and its cores (RAPL): the PMUs `power` and `power_core`, else powercap.
#pragma once

#include <cstdint>
#include <functional>

#include "daemon/base/time.h"
#include "daemon/os/sensors/perf_event.h"
#include "daemon/os/sensors/sensors.h"

namespace gputrace::os {

/// package_energy and core_energy, in joules, each from the first source that can be read.
/// `now_ns` is CLOCK_MONOTONIC.
[[nodiscard]] OpenedSensors open_rapl(
    const SystemRoots& roots, const PerfEventOpen& open,
    const std::function<std::int64_t()>& now_ns = monotonic_now_ns);

}  // namespace gputrace::os
