// Names of the bits by which the firmware says that it holds clocks back: the ones of each driver
// (throttle_status) and those that all drivers share (indep_throttle_status). No I/O.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "regdb/gc_version.h"

namespace gputrace::regdb {

/// What has to agree before a bit is believed: some firmware sets bits that mean nothing (RDNA3
/// always sets TEMP_HOTSPOT).
enum class ThrottleGroup {
  kPower,        ///< PPT, SPL, ...: a power limit
  kCurrent,      ///< TDC, EDC: a current limit
  kTemperature,  ///< TEMP_*, THM_*, PROCHOT, VRHOT
  kOther,        ///< FIT, PPM, padding, and bits without a name here
};
[[nodiscard]] std::string_view to_string(ThrottleGroup group);  ///< "power", "temperature", ...

struct ThrottleReason {
  unsigned bit = 0;
  std::string name;  ///< "PPT0", "TEMP_HOTSPOT"; "bit 27" where it has no name here
  ThrottleGroup group = ThrottleGroup::kOther;
};

/// The set bits of throttle_status, lowest first. The bits differ between drivers, so without `gc`,
/// or with one whose driver is not known here, each is "bit N".
[[nodiscard]] std::vector<ThrottleReason> decode_throttle_status(const std::optional<GcVersion>& gc,
                                                                 std::uint32_t status);

/// The set bits of indep_throttle_status, lowest first: the same on all chips.
[[nodiscard]] std::vector<ThrottleReason> decode_independent_throttle_status(std::uint64_t status);

/// What a series "throttle_residency_X" counts; kOther for a name that is none.
[[nodiscard]] ThrottleGroup throttle_residency_group(std::string_view sensor);

}  // namespace gputrace::regdb
