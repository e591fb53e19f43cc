#include "cli/analysis/inference/confidence.h"

#include <fmt/format.h>

#include <array>
#include <cmath>
#include <cstddef>
#include <utility>

namespace gputrace::analysis::inference {

bool overlap(const Reading& a, const Reading& b) {
  return a.lower <= b.upper && b.lower <= a.upper;
}

double octaves(const Reading& reading) {
  return std::log2(reading.upper / reading.lower);
}

std::optional<double> nominal_size(const Reading& reading) {
  constexpr std::array<double, 4> kSteps{1, 1.25, 1.5, 1.75};
  std::optional<double> found;
  for (int power = std::ilogb(reading.lower); power <= std::ilogb(reading.upper); ++power) {
    for (const double step : kSteps) {
      const double size = std::ldexp(step, power);
      if (size < reading.lower || size > reading.upper) {
        continue;
      }
      if (found) {
        return std::nullopt;
      }
      found = size;
    }
  }
  return found;
}

DerivedValue derived_value(std::string what, const Reading& reading, std::string unit,
                           std::string_view confidence, std::string by) {
  return {.what = std::move(what),
          .value = reading.value,
          .lower = reading.lower,
          .upper = reading.upper,
          .unit = std::move(unit),
          .confidence = std::string(confidence),
          .by = std::move(by)};
}

std::string bytes_text(double bytes) {
  constexpr std::array<std::string_view, 4> kUnits{"B", "KiB", "MiB", "GiB"};
  std::size_t unit = 0;
  while (unit + 1 < kUnits.size() && bytes >= 1024) {
    bytes /= 1024;
    ++unit;
  }
  const bool whole = bytes >= 99.95 || std::abs(bytes - std::round(bytes)) < 0.05;
  return fmt::format("{:.{}f} {}", bytes, whole ? 0 : 1, kUnits.at(unit));
}

}  // namespace gputrace::analysis::inference
