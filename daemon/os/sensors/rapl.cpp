#include "daemon/os/sensors/rapl.h"

#include <fmt/format.h>

#include <array>
#include <span>
#include <string>
#include <string_view>
#include <utility>

#include "daemon/os/sensors/machine_sensors.h"
#include "daemon/os/sensors/pmu_folder.h"
#include "daemon/os/sensors/pmu_reader.h"
#include "daemon/os/sensors/powercap.h"

namespace gputrace::os {

namespace {

struct EnergyEvent {
  std::string_view pmu;
  std::string_view event;
};

// arch/x86/events/rapl.c. AMD has no energy-cores, but one counter a core in power_core (6.13).
constexpr std::array<EnergyEvent, 1> kPackageEvents{{{"power", "energy-pkg"}}};
constexpr std::array<EnergyEvent, 2> kCoreEvents{
    {{"power_core", "energy-core"}, {"power", "energy-cores"}}};

OpenedSensors open_event(EnergyZone zone, const EnergyEvent& wanted, const SystemRoots& roots,
                         const PerfEventOpen& open) {
  const std::string name = fmt::format("pmu {} {}", wanted.pmu, wanted.event);
  const Result<PmuFolder> pmu = open_pmu_folder(roots, wanted.pmu);
  if (!pmu) {
    return pmu_not_usable(name, pmu.error(), lost_without(zone));
  }
  const Result<NamedPmuEvent> event = named_event(*pmu, wanted.event);
  if (!event) {
    return pmu_not_usable(name, event.error(), lost_without(zone));
  }
  if (event->unit != "Joules") {
    return pmu_not_usable(
        name,
        {ErrorCode::kCorrupt, fmt::format("{}/events/{}.unit says '{}'", pmu->folder.string(),
                                          wanted.event, event->unit)},
        lost_without(zone));
  }
  PmuSource source;
  source.name = name;
  source.loses = lost_without(zone);
  sampler::SensorDescription sensor = describe_energy(zone);
  sensor.source = name;
  source.sensors.push_back(std::move(sensor));
  for (const int cpu : pmu->cpus) {
    source.counters.push_back({fmt::format("{} {}", wanted.pmu, wanted.event), event->event, cpu, 0,
                               event->scale, kMostPackageWatts});
  }
  return open_pmu_source(std::move(source), open, roots);
}

/// The first that works; what stood before it does not matter then.
OpenedSensors open_first(EnergyZone zone, std::span<const EnergyEvent> events,
                         const SystemRoots& roots, const PerfEventOpen& open,
                         const std::function<std::int64_t()>& now_ns) {
  OpenedSensors failed;
  for (const EnergyEvent& event : events) {
    OpenedSensors opened = open_event(zone, event, roots, open);
    if (!opened.readers.empty()) {
      return opened;
    }
    append(std::move(opened), failed);
  }
  OpenedSensors opened = open_powercap(zone, roots, now_ns);
  if (!opened.readers.empty()) {
    return opened;
  }
  append(std::move(opened), failed);
  return failed;
}

}  // namespace

OpenedSensors open_rapl(const SystemRoots& roots, const PerfEventOpen& open,
                        const std::function<std::int64_t()>& now_ns) {
  OpenedSensors all = open_first(EnergyZone::kPackage, kPackageEvents, roots, open, now_ns);
  append(open_first(EnergyZone::kCore, kCoreEvents, roots, open, now_ns), all);
  return all;
}

}  // namespace gputrace::os
