#include "daemon/os/sensors/cpu_temperature.h"

#include <fmt/format.h>

#include <utility>

#include "daemon/os/sensors/deadline.h"
#include "daemon/os/sensors/file_probe.h"
#include "daemon/os/sensors/hwmon_files.h"

namespace gputrace::os {

OpenedSensors open_cpu_temperature(const SystemRoots& roots) {
  const std::filesystem::path parent = roots.sys / "class" / "hwmon";
  OpenedSensors opened;
  FileProbe probe(kProbeDeadline);
  for (const std::filesystem::path& folder : find_hwmon(parent, "k10temp")) {
    for (SensorFile& file : k10temp_files(folder)) {
      const auto answer = probe.ask(file);
      add_file(std::move(file), answer, probe.stuck(), opened);
    }
  }
  if (opened.findings.empty()) {
    opened.findings.push_back(
        {.source = "hwmon k10temp",
         .state = SourceState::kAbsent,
         .reason = fmt::format("no folder in {} is of k10temp", parent.string()),
         .fix = "on an AMD processor: modprobe k10temp",
         .loses = "cpu temperature"});
  }
  return opened;
}

}  // namespace gputrace::os
