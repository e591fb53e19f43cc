#include "kernels/bench/tests/pixel_tables.h"

#include <fmt/format.h>

#include <algorithm>

#include "kernels/bench/proven_kernel.h"

namespace gputrace::bench {

using analysis::BenchPoint;
using analysis::BenchSeries;
using analysis::TestResult;

void PixelTables::begin_table(const PixelTable& table) {
  TestResult& test = tests_.emplace_back();
  test.id = table.id;
  test.unit = table.unit;
  test.axis = table.axis;
  test.axis_unit = table.axis_unit;
}

void PixelTables::add_point(const PixelPoint& point) {
  points_.push_back({.kernel = kernels_.size() - 1,
                     .trips = point.trips,
                     .groups = point.groups,
                     .label = fmt::format("{}.{:g}", kernels_.back().sized.kernel.id, point.x),
                     .work = point.work,
                     .test = tests_.size() - 1,
                     .series = point.series,
                     .x = point.x});
}

std::vector<TestResult> PixelTables::measure(TestContext& context) {
  RooflineProgress progress(context, points_.size());
  measure_points(progress, std::move(kernels_), points_, tests_);
  for (TestResult& test : tests_) {
    for (BenchSeries& series : test.series) {
      std::ranges::sort(series.points, {}, &BenchPoint::x);
    }
    conclude(test);
  }
  return std::move(tests_);
}

void derive_peak(TestResult& test, const std::string& unit) {
  const BenchPoint* const best = best_point(test);
  if (best == nullptr) {
    return;
  }
  const auto has_best = [&](const BenchSeries& series) {
    return std::ranges::any_of(series.points,
                               [&](const BenchPoint& point) { return &point == best; });
  };
  const auto series = std::ranges::find_if(test.series, has_best);
  test.derived.push_back(
      ceiling_of(*best, test.id + ".peak", unit,
                 fmt::format("{}, {:g} {}, n = {}", series->name, best->x,
                             test.axis_unit.empty() ? test.axis : test.axis_unit, best->samples)));
}

analysis::DerivedValue scaled(analysis::DerivedValue value, double factor) {
  value.value *= factor;
  for (std::optional<double>* const bound : {&value.lower, &value.upper}) {
    if (*bound) {
      **bound *= factor;
    }
  }
  return value;
}

}  // namespace gputrace::bench
