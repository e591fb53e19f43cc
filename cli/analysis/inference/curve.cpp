#include "cli/analysis/inference/curve.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <cstddef>
#include <utility>

namespace gputrace::analysis::inference {

namespace {

bool is_positive(double value) {
  return std::isfinite(value) && value > 0;
}

}  // namespace

Curve usable_curve(const BenchSeries& series) {
  Curve all;
  for (const BenchPoint& point : series.points) {
    if (point.status == TestStatus::kOk && point.median && is_positive(*point.median) &&
        is_positive(point.x)) {
      all.push_back({point.x, *point.median});
    }
  }
  std::ranges::sort(all, [](const CurvePoint& a, const CurvePoint& b) {
    return a.x != b.x ? a.x < b.x : a.y < b.y;
  });
  Curve curve;
  for (std::size_t first = 0; first < all.size();) {
    std::size_t end = first;
    while (end < all.size() && all[end].x == all[first].x) {
      ++end;
    }
    curve.push_back(all[first + (end - first - 1) / 2]);
    first = end;
  }
  return curve;
}

Curve usable_curve(const TestResult& test, std::string_view series) {
  const auto found = std::ranges::find(test.series, series, &BenchSeries::name);
  return found == test.series.end() ? Curve{} : usable_curve(*found);
}

double bytes_of_name(std::string_view name) {
  double value = 0;
  const auto [end, error] = std::from_chars(name.data(), name.data() + name.size(), value);
  if (error != std::errc{} || !is_positive(value)) {
    return 0;
  }
  std::string_view unit = name.substr(static_cast<std::size_t>(end - name.data()));
  unit.remove_prefix(std::min(unit.find_first_not_of(' '), unit.size()));
  constexpr std::array<std::string_view, 4> kUnits{"B", "KiB", "MiB", "GiB"};
  double scale = 1;
  for (const std::string_view each : kUnits) {
    if (unit == each) {
      return value * scale;
    }
    scale *= 1024;
  }
  return 0;
}

}  // namespace gputrace::analysis::inference
