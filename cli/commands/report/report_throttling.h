// Whether the firmware held the clocks back: its bits are believed only where temperature, power or
// clock agree, since some firmware sets bits that mean nothing (RDNA3 always sets TEMP_HOTSPOT).
#pragma once

#include <optional>

#include "cli/commands/report/sensor_set.h"
#include "cli/report/report.h"
#include "regdb/gc_version.h"

namespace gputrace::commands {

/// A temperature supports a bit from here up to its limit.
inline constexpr double kNearLimitC = 5;
/// A power supports a bit from this share of its cap on.
inline constexpr double kNearCap = 0.95;
/// A clock supports a bit where it is below this share of what it is without the bit, while the GPU
/// is busy for at least kBusyPercent in both cases.
inline constexpr double kHeldDown = 0.9;
inline constexpr double kBusyPercent = 90;
/// Less support than this is chance.
inline constexpr double kMinSupportedS = 0.5;

/// Absent where no source has such bits, or none was read. `use_activity`: false for a busy
/// percentage that is known to be wrong.
[[nodiscard]] Result<std::optional<report::Throttling>> throttling_of(
    const SensorSet& set, const std::optional<regdb::GcVersion>& gc, bool use_activity);

}  // namespace gputrace::commands
