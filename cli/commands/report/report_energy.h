// Energy and DRAM traffic of a report, from its sensors.
#pragma once

#include <optional>
#include <vector>

#include "cli/report/report.h"

namespace gputrace::commands {

/// Whether a power or energy covers the CPU beside the GPU, as on an APU.
[[nodiscard]] bool covers_cpu(const report::Sensor& sensor);

/// At most one entry for the GPU (or the package that it is part of) and one for a CPU beside it.
/// An energy counter goes before power times time.
[[nodiscard]] std::vector<report::Energy> energy_of(const std::vector<report::Sensor>& sensors);

/// The sensors that count DRAM traffic: one for both directions, or one for each (or for only one).
struct DramSensors {
  const report::Sensor* read = nullptr;
  const report::Sensor* write = nullptr;
  const report::Sensor* both = nullptr;
};
[[nodiscard]] DramSensors dram_sensors(const std::vector<report::Sensor>& sensors);

/// Counted bytes go before rates that the firmware averages. Absent when nothing counts them.
[[nodiscard]] std::optional<report::DramTraffic> dram_traffic_of(
    const std::vector<report::Sensor>& sensors);

}  // namespace gputrace::commands
