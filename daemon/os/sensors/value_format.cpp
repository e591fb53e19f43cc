#include "daemon/os/sensors/value_format.h"

#include <array>
#include <charconv>
#include <limits>
#include <system_error>

#include "regdb/gpu_metrics.h"

namespace gputrace::os {

namespace {

constexpr std::int64_t kMicro = 1'000'000;

ParsedValue absent(std::string_view reason) noexcept {
  return {ValueState::kAbsent, 0, reason};
}

ParsedValue impossible(std::string_view reason) noexcept {
  return {ValueState::kImpossible, 0, reason};
}

bool is_blank(char c) noexcept {
  return c == ' ' || c == '\t' || c == '\n' || c == '\r';
}

std::optional<std::int64_t> parse_integer(std::string_view text) noexcept {
  std::int64_t number = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (error != std::errc() || end != text.data() + text.size()) {
    return std::nullopt;
  }
  return number;
}

/// A decimal number at the start of `text`, which is then cut off. At most three decimals, without
/// exponent: what the kernel prints.
std::optional<double> take_decimal(std::string_view& text) noexcept {
  constexpr std::size_t kMaxDigits = 9;
  double value = 0;
  double place = 0;
  std::size_t used = 0;
  for (; used < text.size() && used <= kMaxDigits; ++used) {
    const char c = text[used];
    if (c == '.' && place == 0 && used > 0) {
      place = 1;
    } else if (c >= '0' && c <= '9') {
      value = value * 10 + (c - '0');
      place *= 10;
    } else {
      break;
    }
  }
  if (used == 0 || used > kMaxDigits || place == 1) {
    return std::nullopt;
  }
  text.remove_prefix(used);
  return place == 0 ? value : value / place;
}

bool skip(std::string_view& text, std::string_view prefix) noexcept {
  if (!text.starts_with(prefix)) {
    return false;
  }
  text.remove_prefix(prefix.size());
  return true;
}

/// "848Mhz" in MHz.
std::optional<double> clock_of_level(std::string_view level) noexcept {
  const auto mhz = take_decimal(level);
  const bool has_unit = skip(level, "Mhz") || skip(level, "MHz");
  return has_unit && clean_text(level).empty() ? mhz : std::nullopt;
}

/// "8.0GT/s, x16 619Mhz" in bytes/s of one direction.
std::optional<double> link_of_level(std::string_view level) noexcept {
  const auto transfers = take_decimal(level);
  if (!transfers || !skip(level, "GT/s, x")) {
    return std::nullopt;
  }
  const auto lanes = take_decimal(level);
  level = clean_text(level);
  if (!lanes || (!level.empty() && !clock_of_level(level))) {
    return std::nullopt;
  }
  // Bits that carry data (PCI Express Base Specification): 8b/10b up to 5 GT/s, 128b/130b up to 32,
  // then flits of 242 in 256 bytes.
  const double coding = *transfers <= 5 ? 8.0 / 10 : *transfers <= 32 ? 128.0 / 130 : 242.0 / 256;
  return *transfers * 1e9 * *lanes * coding / 8;
}

/// One marked level is the answer; several are when they have the same value, since the driver
/// marks each level that equals the current one (smu_v13_0_4_print_clk_levels of Linux).
ParsedValue parse_levels(std::string_view text, TextForm form) noexcept {
  std::optional<double> current;
  bool has_level = false;
  while (!text.empty()) {
    const std::size_t end = text.find('\n');
    std::string_view line = clean_text(text.substr(0, end));
    text.remove_prefix(end == std::string_view::npos ? text.size() : end + 1);
    if (line.empty()) {
      continue;
    }
    const bool is_current = line.ends_with('*');
    if (is_current) {
      line = clean_text(line.substr(0, line.size() - 1));
    }
    const std::size_t colon = line.find(':');  // after a number, or S: deep sleep
    if (colon == std::string_view::npos) {
      return impossible("it has a line that is no level");
    }
    const std::string_view level = clean_text(line.substr(colon + 1));
    const auto value = form == TextForm::kDpmClock ? clock_of_level(level) : link_of_level(level);
    if (!value) {
      return impossible("it has a line that is no level");
    }
    has_level = true;
    if (is_current && current && *current != *value) {
      return absent("levels that differ are marked as current");
    }
    current = is_current ? value : current;
  }
  if (!has_level) {
    return absent("the file is empty: this chip has no such levels");
  }
  return current ? ParsedValue{ValueState::kValue, *current, {}}
                 : absent("no level is marked as current");
}

ParsedValue parse_power(std::int64_t number, bool plain_microwatts) noexcept {
  if (number < 0) {
    return impossible("it is below zero");
  }
  const std::int64_t fraction = number % kMicro;
  if (plain_microwatts) {
    return {ValueState::kValue, static_cast<double>(number) / static_cast<double>(kMicro), {}};
  }
  if (fraction % 1000 != 0 || fraction / 1000 > 0xff) {
    return {ValueState::kFormBroken, 0,
            "this power is no 8.8 fixed-point number, as those before it were taken to be"};
  }
  const std::int64_t watts = number / kMicro;
  const std::int64_t parts = fraction / 1000;  // of 256
  return {ValueState::kValue, static_cast<double>(watts) + static_cast<double>(parts) / 256, {}};
}

}  // namespace

std::string_view clean_text(std::string_view text) noexcept {
  text = text.substr(0, text.find('\0'));
  while (!text.empty() && is_blank(text.front())) {
    text.remove_prefix(1);
  }
  while (!text.empty() && is_blank(text.back())) {
    text.remove_suffix(1);
  }
  return text;
}

ParsedValue parse_value(std::string_view text, const ValueFormat& format) noexcept {
  text = clean_text(text);
  ParsedValue parsed;
  if (format.form == TextForm::kDpmClock || format.form == TextForm::kDpmPcie) {
    parsed = parse_levels(text, format.form);
  } else {
    const auto number = parse_integer(text);
    if (!number) {
      return impossible(text.empty() ? "the answer is empty" : "the answer is no number");
    }
    if (*number == 0 && format.zero_is_absent) {
      return absent("it is 0, which no GPU at work has: not provided");
    }
    parsed = format.form == TextForm::kPower
                 ? parse_power(*number, format.plain_microwatts)
                 : ParsedValue{ValueState::kValue,
                               regdb::scaled(static_cast<double>(*number), format.scale),
                               {}};
  }
  if (parsed.state == ValueState::kValue &&
      (parsed.value < format.min || parsed.value > format.max)) {
    return impossible("no GPU has such a value");
  }
  return parsed;
}

bool is_plain_microwatts(std::string_view text) noexcept {
  const auto number = parse_integer(clean_text(text));
  const std::int64_t fraction = number.value_or(0) % kMicro;
  return fraction > 0 && (fraction % 1000 != 0 || fraction / 1000 > 0xff);
}

}  // namespace gputrace::os
