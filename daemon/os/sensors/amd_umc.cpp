#include "daemon/os/sensors/amd_umc.h"

#include <fmt/format.h>

#include <array>
#include <utility>

#include "daemon/os/sensors/pmu_folder.h"
#include "daemon/os/sensors/pmu_reader.h"

namespace gputrace::os {

namespace {

constexpr std::string_view kName = "pmu amd_umc";
constexpr std::string_view kLoses = "how many bytes the memory controllers read and write";

// A CAS command moves one burst (tools/perf/pmu-events/arch/x86/amdzen4/memory-controller.json:
// umc_mem_read_bandwidth is 64 bytes times umc_cas_cmd.rd).
constexpr double kBytesPerCas = 64;
constexpr std::uint64_t kCasCommand = 0x0a;

// 12 channels of DDR5-8800 give 0.85 TB/s, and a controller has one or two of them.
constexpr double kMostBytesPerSecond = 1e12;

struct Direction {
  std::string_view sensor;
  std::string_view event;
  std::uint64_t rdwrmask = 0;
};
constexpr std::array<Direction, 2> kDirections{
    {{"dram_read", "umc_cas_cmd.rd", 1}, {"dram_write", "umc_cas_cmd.wr", 2}}};

}  // namespace

OpenedSensors open_amd_umc(const SystemRoots& roots, const PerfEventOpen& open) {
  const std::vector<std::string> names = numbered_pmus(roots, "amd_umc_");
  if (names.empty()) {
    return pmu_not_usable(
        std::string(kName),
        {ErrorCode::kNotFound,
         fmt::format("no amd_umc_* in {}: the processor is older than Zen 4 or does not let its "
                     "memory controllers be counted, or Linux is older than 6.7",
                     (roots.sys / "bus/event_source/devices").string())},
        std::string(kLoses));
  }
  PmuSource source;
  source.name = kName;
  source.loses = kLoses;
  for (const Direction& direction : kDirections) {
    sampler::SensorDescription sensor;
    sensor.name = direction.sensor;
    sensor.source = fmt::format("{} {}", kName, direction.event);
    sensor.unit = "bytes";
    sensor.kind = sampler::SensorKind::kCounter;
    sensor.covers = "whole machine: CPU and GPU together";
    source.sensors.push_back(std::move(sensor));
  }
  for (const std::string& name : names) {
    const Result<PmuFolder> pmu = open_pmu_folder(roots, name);
    if (!pmu) {
      return pmu_not_usable(std::string(kName), pmu.error(), std::string(kLoses));
    }
    for (std::size_t series = 0; series < kDirections.size(); ++series) {
      const std::array terms{PmuTerm{"event", kCasCommand},
                             PmuTerm{"rdwrmask", kDirections.at(series).rdwrmask}};
      const Result<PerfEvent> event = encode(*pmu, terms);
      if (!event) {
        return pmu_not_usable(std::string(kName), event.error(), std::string(kLoses));
      }
      for (const int cpu : pmu->cpus) {
        source.counters.push_back({fmt::format("{} {}", name, kDirections.at(series).event), *event,
                                   cpu, series, kBytesPerCas, kMostBytesPerSecond});
      }
    }
  }
  return open_pmu_source(std::move(source), open, roots);
}

}  // namespace gputrace::os
