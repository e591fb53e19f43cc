// Turns the text of a sysfs file of a sensor into a value. Pure, allocates nothing.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

namespace gputrace::os {

enum class TextForm {
  kInteger,   ///< one signed decimal number
  kPower,     ///< amdgpu's power*_average and power*_input
  kDpmClock,  ///< pp_dpm_sclk and the like: "1: 848Mhz *", the star marks the current level
  kDpmPcie,   ///< pp_dpm_pcie: "1: 8.0GT/s, x16 619Mhz *"
};

/// How one file is read: value = regdb::scaled(number, scale), in the series' unit, from `min` to
/// `max`.
struct ValueFormat {
  TextForm form = TextForm::kInteger;
  double scale = 1;
  double min = 0;
  double max = 0;
  bool zero_is_absent = false;  ///< of a quantity that is never 0 while the GPU answers
  /// kPower: the number is microwatts. Otherwise it is 8.8 fixed point, printed with the 1/256 W as
  /// if they were milliwatts: (raw >> 8) * 1000000 + (raw & 0xff) * 1000 (amdgpu_hwmon_get_power in
  /// amdgpu_pm.c of Linux).
  bool plain_microwatts = false;
};

enum class ValueState {
  kValue,
  kAbsent,      ///< the file says that there is none
  kImpossible,  ///< an answer that cannot be true
  kFormBroken,  ///< kPower: no 8.8 number, so all values so far may have been read wrongly
};

struct ParsedValue {
  ValueState state = ValueState::kAbsent;
  double value = 0;         ///< of kValue alone
  std::string_view reason;  ///< of the others, in words; lives as long as the program
};

/// Without what follows the first NUL (trees copied from sysfs may be padded) and white space at
/// both ends.
[[nodiscard]] std::string_view clean_text(std::string_view text) noexcept;

[[nodiscard]] ParsedValue parse_value(std::string_view text, const ValueFormat& format) noexcept;

/// The text of a power file has a fraction that 8.8 fixed point cannot give: not a whole number of
/// thousandths, or more than 255 of them. So this kernel prints microwatts.
[[nodiscard]] bool is_plain_microwatts(std::string_view text) noexcept;

}  // namespace gputrace::os
