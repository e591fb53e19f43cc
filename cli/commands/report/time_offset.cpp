#include "cli/commands/report/time_offset.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <optional>
#include <string>

namespace gputrace::commands {
namespace {

constexpr double kMaxSeconds = 1e9;  // 30 years

/// Digits with at most one point: no sign, exponent, inf or nan.
std::optional<double> parse_number(std::string_view text, bool allow_fraction) {
  const bool plain = !text.empty() && std::all_of(text.begin(), text.end(), [&](char c) {
    return (c >= '0' && c <= '9') || (allow_fraction && c == '.');
  });
  if (!plain) {
    return std::nullopt;
  }
  double value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  const bool valid = error == std::errc() && end == text.data() + text.size();
  return valid && value <= kMaxSeconds ? std::optional(value) : std::nullopt;
}

}  // namespace

Result<double> parse_time_offset(std::string_view option, std::string_view text) {
  const auto bad = [&] {
    return fail(ErrorCode::kUsage,
                fmt::format("{} wants seconds (12.5) or minutes and seconds (1:30), not '{}'",
                            option, text));
  };
  double total = 0;
  std::string_view rest = text;
  for (int part = 0;; ++part) {
    const std::size_t colon = rest.find(':');
    const bool last = colon == std::string_view::npos;
    const std::optional<double> value = parse_number(rest.substr(0, colon), last);
    if (!value || part > 2 || (part > 0 && *value >= 60)) {
      return bad();
    }
    total = total * 60 + *value;
    if (last) {
      return total;
    }
    rest.remove_prefix(colon + 1);
  }
}

}  // namespace gputrace::commands
