#include "kernels/bench/tests/point_rate.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "kernels/bench/proven_kernel.h"
#include "kernels/bench/rate_check.h"

namespace gputrace::bench {

namespace {

constexpr std::uint32_t kShorter = 4;
constexpr double kShortWarmUpNs = 50e6;

/// A dispatch's time that does not grow with its trips.
Result<double> launch_ns(const PlannedPoint& planned, const MeasuredPoint& whole,
                         const Timing& timing, const MeasurementOptions& options) {
  if (timing.from_timestamps || whole.launch.trips < kShorter) {
    return 0.0;
  }
  PlannedPoint shorter = planned;
  shorter.launch.trips = whole.launch.trips / kShorter;
  shorter.scale_trips = false;
  MeasurementOptions brief = options;
  brief.run_ns /= kShorter;
  brief.warm_up_ns = std::min(brief.warm_up_ns, kShortWarmUpNs);
  const MeasuredPoint part = measure({&shorter, 1}, brief, nullptr).front();
  if (part.error) {
    return tl::unexpected(*part.error);
  }
  if (!part.timing) {
    return 0.0;
  }
  const double whole_ns = timing.median_ns / whole.launch.repeats;
  const double part_ns = part.timing->median_ns / part.launch.repeats;
  const double per_trip = (whole_ns - part_ns) / (whole.launch.trips - part.launch.trips);
  // A busy machine may make the short run seem the longer one; the launch is then not known.
  const double constant_ns = whole_ns - per_trip * whole.launch.trips;
  return per_trip > 0 ? std::max(constant_ns, 0.0) : 0.0;
}

}  // namespace

Status measure_rate(TestContext& context, const MeasurementOptions& options,
                    const PlannedPoint& planned, const std::function<double(const Launch&)>& work,
                    analysis::BenchPoint& point, analysis::TestResult& test) {
  const MeasuredPoint measured = measure({&planned, 1}, options, context.observer).front();
  if (measured.error) {
    return tl::unexpected(*measured.error);
  }
  if (!measured.timing) {
    return {};
  }
  const Timing& timing = *measured.timing;
  const auto launch = launch_ns(planned, measured, timing, options);
  if (!launch) {
    return tl::unexpected(launch.error());
  }
  const double launches_ns = *launch * measured.launch.repeats;
  const double done = work(measured.launch);
  enter_timing(timing, point);
  point.median = done / (timing.median_ns - launches_ns);
  // The launch is that of a median: the shortest runs may have had a shorter one.
  const double least_ns = std::max(timing.p5_ns - launches_ns, timing.p5_ns / 2);
  point.p5 = std::min(done / std::max(timing.p95_ns - launches_ns, least_ns), *point.median);
  point.p95 = std::max(done / least_ns, *point.median);
  const RateCheck rate = check_rate(planned.kernel->kernel(), measured.launch,
                                    timing.median_ns - launches_ns, context.additions_per_ns);
  test.rate = combine(test.rate, rate.proof);
  if (rate.proof == analysis::Proof::kFailed && point.status == analysis::TestStatus::kOk) {
    point.status = analysis::TestStatus::kSuspect;
    point.why = rate.why;
  }
  return {};
}

void derive_per_core(const analysis::BenchPoint& point, std::optional<std::uint32_t> cores,
                     const std::string& name, const std::string& work, std::string unit,
                     analysis::TestResult& test) {
  const auto told = point.clock_after_mhz ? point.clock_after_mhz : point.clock_before_mhz;
  const double mhz = told.value_or(0);
  const std::uint32_t count = cores.value_or(0);
  if (!point.median || point.status != analysis::TestStatus::kOk || !(mhz > 0) || count == 0) {
    return;
  }
  constexpr double kMhzOfGhz = 1000;
  test.derived.push_back({.what = fmt::format("{}: {} a clock and core", name, work),
                          .value = *point.median * kMhzOfGhz / mhz / count,
                          .lower = std::nullopt,
                          .upper = std::nullopt,
                          .unit = std::move(unit),
                          .confidence = "",
                          .by = fmt::format("{:.0f} MHz, {} cores", mhz, count)});
}

}  // namespace gputrace::bench
