#include "daemon/os/sensors/machine_sensors.h"

#include <iterator>
#include <utility>

#include "daemon/os/sensors/amd_df.h"
#include "daemon/os/sensors/amd_umc.h"
#include "daemon/os/sensors/cpu_temperature.h"
#include "daemon/os/sensors/rapl.h"

namespace gputrace::os {

void append(OpenedSensors more, OpenedSensors& all) {
  std::move(more.readers.begin(), more.readers.end(), std::back_inserter(all.readers));
  std::move(more.findings.begin(), more.findings.end(), std::back_inserter(all.findings));
}

OpenedSensors open_machine_sensors(const SystemRoots& roots, const PerfEventOpen& open) {
  OpenedSensors all = open_cpu_temperature(roots);
  append(open_rapl(roots, open), all);
  OpenedSensors memory = open_amd_umc(roots, open);
  const bool counted = !memory.readers.empty();
  append(std::move(memory), all);
  if (!counted) {
    append(open_amd_df(roots, open), all);
  }
  return all;
}

OpenedSensors open_machine_sensors(const SystemRoots& roots) {
  return open_machine_sensors(roots, open_perf_event);
}

}  // namespace gputrace::os
