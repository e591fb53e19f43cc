// One sensor source made of PMU counters: memory controllers, data fabric, RAPL. Internal to
// daemon/os/sensors.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "daemon/os/sensors/perf_event.h"
#include "daemon/os/sensors/sensors.h"

namespace gputrace::os {

struct PmuCounter {
  std::string what;  ///< "amd_umc_0 umc_cas_cmd.rd", for messages
  PerfEvent event;
  int cpu = 0;
  std::size_t series = 0;  ///< index into PmuSource::sensors, whose value it adds to
  double unit_per_count = 1;
  double most_per_s = 0;  ///< in the series' unit: what is faster is no measurement
};

struct PmuSource {
  std::string name;  ///< "pmu amd_umc"
  std::string loses;
  std::vector<sampler::SensorDescription> sensors;  ///< all counters
  std::vector<PmuCounter> counters;
};

/// Opens all counters: a reader and a finding that it works, or only a finding that says why not.
/// A part of the counters is no source: their sum would be too small without a word.
[[nodiscard]] OpenedSensors open_pmu_source(PmuSource source, const PerfEventOpen& open,
                                            const SystemRoots& roots);

/// A finding alone: what keeps a PMU from being used before it is opened. kNotFound is kAbsent.
[[nodiscard]] OpenedSensors pmu_not_usable(std::string name, const Error& error, std::string loses);

}  // namespace gputrace::os
