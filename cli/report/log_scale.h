// Logarithmic axes: ranges, ticks, places, and figures as they are written beside them.
#pragma once

#include <string>
#include <vector>

#include "cli/analysis/roofline.h"

namespace gputrace::report {

/// Positive values on a length of `span` units: pixels, half lines.
struct LogScale {
  double low = 1;
  double high = 2;
  double span = 1;

  /// From 0 at `low` to `span` at `high`; values outside lie outside.
  [[nodiscard]] double at(double value) const;
  [[nodiscard]] double value_at(double place) const;
};

/// What both axes must show of a roofline, rounded outwards: powers of two of FLOP/B, and 1, 2 or 5
/// times a power of ten of GFLOPS.
struct RooflineRange {
  double intensity_low = 0;
  double intensity_high = 0;
  double gflops_low = 0;
  double gflops_high = 0;
};
/// Needs a compute ceiling in GFLOPS or a bandwidth ceiling.
[[nodiscard]] RooflineRange range_of(const analysis::Roofline& roofline);

/// Powers of two within the scale, at most `most`: every second or fourth one where there are more.
[[nodiscard]] std::vector<double> octave_ticks(const LogScale& scale, std::size_t most);
/// 1, 2, 5, 10, ... within the scale; where that is more than `most`, powers of ten only.
[[nodiscard]] std::vector<double> decade_ticks(const LogScale& scale, std::size_t most);

/// Three digits: "0.25", "64.4", "4700".
[[nodiscard]] std::string format_three_digits(double value);
/// "64.4 - 66.1", with the digits of format_three_digits.
[[nodiscard]] std::string format_spread(double lower, double upper);

}  // namespace gputrace::report
