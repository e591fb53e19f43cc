// A measured curve without what says nothing: positive finite numbers, sorted, one a place.
#pragma once

#include <string_view>
#include <vector>

#include "cli/analysis/bench_result.h"

namespace gputrace::analysis::inference {

struct CurvePoint {
  double x = 0;
  double y = 0;
};

using Curve = std::vector<CurvePoint>;

/// Of points that are ok; the median of those at one place.
[[nodiscard]] Curve usable_curve(const BenchSeries& series);
/// The series of that name; empty without one.
[[nodiscard]] Curve usable_curve(const TestResult& test, std::string_view series);

/// Bytes of "64 KiB", "5.7 KiB", "4096 B"; 0 = no size.
[[nodiscard]] double bytes_of_name(std::string_view name);

}  // namespace gputrace::analysis::inference
