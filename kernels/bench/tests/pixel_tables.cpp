#include "kernels/bench/tests/pixel_tables.h"

#include <fmt/format.h>

#include <algorithm>

#include "kernels/bench/proven_kernel.h"
#include "kernels/bench/tests/point_loop.h"

namespace gputrace::bench {

using analysis::BenchPoint;
using analysis::BenchSeries;
using analysis::TestResult;

namespace {

constexpr double kQuickRunNs = 1e6;
constexpr double kQuickWarmUpNs = 10e6;

}  // namespace

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
                     .x = point.x,
                     .rank = point.rank});
}

std::vector<TestResult> PixelTables::measure(TestContext& context) {
  const MeasurementOptions before = context.options;
  if (context.quick && !context.runner.facts().is_cpu) {
    // Of pixels there are millions in a millisecond, and many points in a share of a second.
    context.options.run_ns = std::min(before.run_ns, kQuickRunNs);
    context.options.warm_up_ns = std::min(before.warm_up_ns, kQuickWarmUpNs);
  }
  RooflineProgress progress(context, points_.size());
  const std::vector<std::size_t> left_out =
      measure_points(progress, std::move(kernels_), points_, tests_);
  context.options = before;
  context.additions_per_ns = progress.additions_per_ns;
  for (std::size_t i = 0; i < tests_.size(); ++i) {
    for (BenchSeries& series : tests_[i].series) {
      std::ranges::sort(series.points, {}, &BenchPoint::x);
    }
    conclude(tests_[i]);
    const auto points = std::ranges::count(points_, i, &RooflinePoint::test);
    say_left_out(tests_[i], left_out[i], static_cast<std::size_t>(points));
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
