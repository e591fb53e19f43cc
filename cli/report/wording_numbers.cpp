#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "cli/report/wording.h"

namespace gputrace::report {
namespace {

enum class Round { kDown, kNearest, kUp };

/// To so many digits.
double rounded(double value, int digits, Round round) {
  if (!(value > 0) || !std::isfinite(value)) {
    return 0;
  }
  const double scale = std::pow(10.0, digits - 1 - std::floor(std::log10(value)));
  // An end that is exact up to rounding error stays where it is.
  const double scaled = value * scale;
  return (round == Round::kDown ? std::floor(scaled + 1e-9)
          : round == Round::kUp ? std::ceil(scaled - 1e-9)
                                : std::round(scaled)) /
         scale;
}

/// A rounded value with its digits, without exponent.
std::string digits_text(double value, int digits) {
  if (!(value > 0)) {
    return "0";
  }
  const int decimals =
      std::max(0, digits - 1 - static_cast<int>(std::floor(std::log10(value) + 1e-12)));
  return fmt::format("{:.{}f}", value, decimals);
}

std::string digits_text(double value, int digits, Round round) {
  return digits_text(rounded(value, digits, round), digits);
}

std::string of_ridge_text(const analysis::Range& range) {
  if (range.lower && range.upper) {
    return fmt::format("{} of the ridge", range_text(range));
  }
  if (range.upper) {
    return fmt::format("below {} of the ridge", digits_text(*range.upper, 2, Round::kUp));
  }
  return fmt::format("above {} times the ridge",
                     digits_text(range.lower.value_or(0), 2, Round::kDown));
}

/// Little is not nothing, and nearly all is not all.
std::string whole_percent(double fraction) {
  const double percent = 100 * fraction;
  if (percent > 0 && percent < 0.5) {
    return "<1 %";
  }
  return percent < 100 && percent >= 99.5 ? ">99 %" : fmt::format("{:.0f} %", percent);
}

void append(std::string& text, std::string_view between, const std::string& part) {
  text += text.empty() ? "" : between;
  text += part;
}

}  // namespace

std::string range_text(const analysis::Range& range) {
  if (range.lower && range.upper) {
    if (*range.lower == *range.upper) {
      return digits_text(*range.lower, 2, Round::kNearest);
    }
    // The two ends of a narrow range must not look much further apart than they are.
    constexpr double kMostWidening = 1.6;
    const double width = kMostWidening * (*range.upper - *range.lower);
    for (int digits = 2; digits <= 4; ++digits) {
      const double lower = rounded(*range.lower, digits, Round::kDown);
      const double upper = rounded(*range.upper, digits, Round::kUp);
      if (upper - lower <= width || digits == 4) {
        return fmt::format("{} - {}", digits_text(lower, digits), digits_text(upper, digits));
      }
    }
  }
  if (range.upper) {
    return fmt::format("< {}", digits_text(*range.upper, 2, Round::kUp));
  }
  return range.lower ? fmt::format("> {}", digits_text(*range.lower, 2, Round::kDown))
                     : std::string("not known");
}

std::string position_text(const analysis::Position& position) {
  std::string text;
  if (is_known(position.of_ridge)) {
    append(text, ", ", of_ridge_text(position.of_ridge));
  }
  if (is_known(position.intensity)) {
    append(text, ", ", range_text(position.intensity) + " FLOP/B");
  }
  if (position.gbps && is_known(*position.gbps)) {
    append(text, "; ", range_text(*position.gbps) + " GB/s");
  }
  if (position.gflops && is_known(*position.gflops)) {
    append(text, "; ", range_text(*position.gflops) + " GFLOPS");
  }
  return text.empty() ? "not known" : text;
}

std::string busy_text(double busy, const std::optional<analysis::Interval>& interval) {
  std::string percent = whole_percent(busy);
  if (!interval) {
    return percent;
  }
  const double half = 50 * (interval->upper - interval->lower);
  // Rounded half intervals: whole points, as the percentage has.
  return half < 1 ? percent + " (±<1)" : fmt::format("{} (±{:.0f})", percent, std::round(half));
}

}  // namespace gputrace::report
