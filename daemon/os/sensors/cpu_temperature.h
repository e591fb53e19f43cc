// Temperatures of an AMD processor from the kernel's k10temp driver.
#pragma once

#include "daemon/os/sensors/sensors.h"

namespace gputrace::os {

/// A reader for each temperature of each k10temp under <sys>/class/hwmon (one for each socket),
/// in degrees Celsius: "cpu_temperature" by label Tctl or Tdie, "ccd_temperature_N" of Tccd<N+1>.
/// Without the driver there are no readers and a finding that says so.
[[nodiscard]] OpenedSensors open_cpu_temperature(const SystemRoots& roots);

}  // namespace gputrace::os
