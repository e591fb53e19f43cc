// Energy counters of <sys>/class/powercap. Internal to daemon/os/sensors.
#pragma once

#include <cstdint>
#include <functional>

#include "daemon/os/sensors/sensors.h"

namespace gputrace::os {

enum class EnergyZone { kPackage, kCore };

// More than any package draws, so that a wrap is told from a counter that began anew.
inline constexpr double kMostPackageWatts = 1000;

/// package_energy (intel-rapl:N) or core_energy (intel-rapl:N:M named "core"), summed over the
/// packages. The name is the driver's; AMD's counters are there too. Root's alone since
/// CVE-2020-8694.
[[nodiscard]] OpenedSensors open_powercap(EnergyZone zone, const SystemRoots& roots,
                                          std::function<std::int64_t()> now_ns);

[[nodiscard]] sampler::SensorDescription describe_energy(EnergyZone zone);
[[nodiscard]] std::string lost_without(EnergyZone zone);

}  // namespace gputrace::os
