#include "kernels/bench/tests/latency/chase_point.h"

#include <fmt/format.h>

#include <algorithm>
#include <memory>
#include <utility>

#include "kernels/bench/proven_kernel.h"

namespace gputrace::bench {

namespace {

using analysis::TestResult;
using analysis::TestStatus;

/// Enough to leave the first lines; not a multiple of anything.
constexpr Launch kProofLaunch{.groups = 1, .trips = 37, .repeats = 2};
/// A walk of the whole cycle is cut into dispatches that no driver takes for a hang.
constexpr std::uint32_t kWarmTrips = 1000;
/// What more nodes hold lies in caches that all cores share, if in any: many lanes may warm them.
constexpr std::uint64_t kManyNodes = 8192;
/// The launch is subtracted by a second run, of this part of the length.
constexpr double kShortRun = 0.25;
constexpr double kShortWarmUp = 0.5;
constexpr int kAttempts = 3;

constexpr double kRunNs = 4e6;
constexpr double kWarmUpNs = 60e6;
constexpr double kQuickRunNs = 1.5e6;
constexpr double kQuickWarmUpNs = 15e6;
constexpr std::size_t kQuickSamples = 12;

/// Of that many trips a dispatch, or of as many as make a run of the wanted length.
Result<MeasuredPoint> measure_run(PreparedKernel& kernel, std::optional<std::uint32_t> trips,
                                  const MeasurementOptions& options, PointObserver* observer) {
  const PlannedPoint planned{.kernel = &kernel,
                             .launch = {.groups = 1, .trips = trips.value_or(1), .repeats = 1},
                             .scale_trips = !trips.has_value(),
                             .label = kernel.kernel().id};
  MeasuredPoint measured = measure({&planned, 1}, options, observer).front();
  if (measured.error) {
    return tl::unexpected(*measured.error);
  }
  return measured;
}

/// ns a hop, from dispatches of two lengths: what both have in common is the launch.
void enter_difference(ChasePoint& point, const MeasuredPoint& whole, const MeasuredPoint& part) {
  if (!whole.timing || !part.timing) {
    return;  // cancelled
  }
  const Timing& longer = *whole.timing;
  const Timing& shorter = *part.timing;
  const double hops = hops_of_dispatch(whole.launch) - hops_of_dispatch(part.launch);
  const double base_ns = shorter.median_ns / part.launch.repeats;
  const auto per_hop = [&](double run_ns) {
    return (run_ns / whole.launch.repeats - base_ns) / hops;
  };
  if (!(hops > 0) || !(per_hop(longer.median_ns) > 0)) {
    point.median.status = TestStatus::kSkipped;
    point.median.why = fmt::format(
        "dispatches of {:.0f} and {:.0f} hops took {:.0f} and {:.0f} ns: no time of a hop follows",
        hops_of_dispatch(whole.launch), hops_of_dispatch(part.launch),
        longer.median_ns / whole.launch.repeats, base_ns);
    return;
  }
  const double median = per_hop(longer.median_ns);
  point.median.median = median;
  point.median.p5 = std::clamp(per_hop(longer.p5_ns), 0.0, median);
  point.median.p95 = std::max(per_hop(longer.p95_ns), median);
  enter_timing(longer, point.median);
  point.median.drifts = longer.drifts || shorter.drifts;
  if (median < kLeastHopNs) {
    point.median.status = TestStatus::kSuspect;
    point.median.why =
        fmt::format("{:.3g} ns a hop is less than any cache takes: loads were left out", median);
  }
  // Of the shortest runs, which nothing disturbed; noise may put it above the median.
  const double shortest =
      (longer.min_ns / whole.launch.repeats - shorter.min_ns / part.launch.repeats) / hops;
  if (shortest > 0) {
    point.minimum = point.median;
    point.minimum->median = std::min(shortest, median);
    point.minimum->p5 = point.minimum->p95 = std::nullopt;
  }
}

/// Leaves the point without a figure when cancelled.
Status measure_both(TestContext& context, const MeasurementOptions& options, PreparedKernel& kernel,
                    ChasePoint& point) {
  const auto whole = measure_run(kernel, std::nullopt, options, context.observer);
  if (!whole) {
    return tl::unexpected(whole.error());
  }
  if (!whole->timing) {
    return {};
  }
  MeasurementOptions brief = options;
  brief.run_ns *= kShortRun;
  brief.warm_up_ns *= kShortWarmUp;
  const auto short_trips = std::max(
      static_cast<std::uint32_t>(static_cast<double>(whole->launch.trips) * kShortRun), 1U);
  const auto part = measure_run(kernel, short_trips, brief, nullptr);
  if (!part) {
    return tl::unexpected(part.error());
  }
  enter_difference(point, *whole, *part);
  return {};
}

Status walk(PreparedKernel& kernel, const ChasePoint& point, const MeasurementOptions& options) {
  const std::uint64_t a_trip = std::uint64_t{kHopsPerTrip} * point.warming_walkers;
  std::uint64_t trips = point.nodes / a_trip + 1;
  while (trips > 0 && !(options.cancelled && options.cancelled())) {
    const auto now = static_cast<std::uint32_t>(std::min<std::uint64_t>(trips, kWarmTrips));
    if (const auto ran = kernel.run({.groups = 1, .trips = now, .repeats = 1}); !ran) {
      return tl::unexpected(ran.error());
    }
    trips -= now;
  }
  return {};
}

}  // namespace

ChasePoint chase_point(const ChaseShape& shape, KernelCase kernel, const vulkan::DeviceFacts& facts,
                       const ChaseTrack& track) {
  ChasePoint point;
  point.nodes = track.cycle->nodes();
  point.median.x = static_cast<double>(track.bytes);
  point.median.label = kernel.id;
  ChaseShape warming{.path = shape.path, .chains = 1, .full_wave = false};
  if (point.nodes > kManyNodes) {
    warming.path = is_uniform(shape.path) ? Path::kVector : shape.path;
    warming.full_wave = true;
  }
  point.warmer = chase_case(kernel.id + ".warm", warming, facts, track);
  point.warming_walkers = point.warmer.group_threads;
  point.kernel = std::move(kernel);
  return point;
}

MeasurementOptions chase_options(const MeasurementOptions& options, bool quick) {
  MeasurementOptions own = options;
  own.run_ns = std::min(own.run_ns, quick ? kQuickRunNs : kRunNs);
  own.warm_up_ns = std::min(own.warm_up_ns, quick ? kQuickWarmUpNs : kWarmUpNs);
  if (quick) {
    own.samples = std::min(own.samples, kQuickSamples);
  }
  return own;
}

Status walk_all(Runner& runner, const ChasePoint& point, const MeasurementOptions& options) {
  if (runner.simulated()) {
    return {};
  }
  const auto warmer = runner.prepare(point.warmer);
  return warmer ? walk(**warmer, point, options) : tl::unexpected(warmer.error());
}

std::optional<Error> measure_chase(TestContext& context, const MeasurementOptions& options,
                                   ChasePoint& point, TestResult& test) {
  point.is_done = true;
  const auto failed = [&](const Error& error) {
    enter_error(error, point.median);
    return error;
  };
  const auto proven = prepare_and_prove(context.runner, point.kernel, kProofLaunch);
  if (!proven) {
    return failed(proven.error());
  }
  enter_proofs(*proven, point.median, test);
  if (point.median.status == TestStatus::kFailed) {
    return std::nullopt;
  }
  if (const Status warm = walk_all(context.runner, point, options); !warm) {
    return failed(warm.error());
  }
  const TestStatus status = point.median.status;
  const std::string why = point.median.why;
  for (int attempt = 1;; ++attempt) {
    if (const Status measured = measure_both(context, options, *proven->kernel, point); !measured) {
      return failed(measured.error());
    }
    // Where other programs take the processor away the short run may seem the longer one.
    if (point.median.status != TestStatus::kSkipped || attempt == kAttempts) {
      return std::nullopt;
    }
    point.median.status = status;
    point.median.why = why;
  }
}

}  // namespace gputrace::bench
