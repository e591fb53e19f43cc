#include "kernels/bench/tests/census.h"

#include <fmt/format.h>

#include <algorithm>
#include <vector>

namespace gputrace::bench {

namespace {

constexpr double kDwellNs = 300e3;
constexpr std::uint32_t kFirstCensus = 32;
constexpr std::uint32_t kCensusGrowth = 4;
constexpr std::size_t kCensusRuns = 5;

/// Of a few dispatches of one group: other programs make one longer, never shorter.
Result<double> shortest(PreparedKernel& kernel, std::uint32_t trips) {
  constexpr int kRuns = 3;
  Result<double> best = time_once(kernel, {.groups = 1, .trips = trips, .repeats = 1});
  for (int i = 1; i < kRuns && best; ++i) {
    const auto next = time_once(kernel, {.groups = 1, .trips = trips, .repeats = 1});
    if (!next || *next < *best) {
      best = next;
    }
  }
  return best;
}

}  // namespace

Result<double> time_once(PreparedKernel& kernel, const Launch& launch) {
  const auto time = kernel.run(launch);
  if (!time) {
    return tl::unexpected(time.error());
  }
  return time->gpu_ns.value_or(time->wall_ns);
}

Result<std::uint32_t> find_dwell(PreparedKernel& kernel) {
  // Drivers finish their compilation at the first dispatch.
  if (const auto first = time_once(kernel, {.groups = 1, .trips = 1, .repeats = 1}); !first) {
    return tl::unexpected(first.error());
  }
  const auto launch_ns = shortest(kernel, 1);
  if (!launch_ns) {
    return tl::unexpected(launch_ns.error());
  }
  for (std::uint32_t trips = 2;; trips = std::min(trips * 2, kMaxTrips)) {
    const auto ns = shortest(kernel, trips);
    if (!ns) {
      return tl::unexpected(ns.error());
    }
    if (*ns - *launch_ns >= kDwellNs) {
      return trips;
    }
    if (trips == kMaxTrips) {
      return fail(ErrorCode::kUnsupported,
                  fmt::format("{}: {} trips take {:.0f} us: too short for a census",
                              kernel.kernel().id, trips, (*ns - *launch_ns) * 1e-3));
    }
  }
}

Status take_census(PreparedKernel& kernel, std::uint32_t trips, std::uint32_t most,
                   const CensusReading& reading, const MeasurementOptions& options,
                   analysis::BenchPoint& point) {
  std::uint32_t groups = std::min(kFirstCensus, most);
  std::vector<double> peaks;
  while (peaks.size() < kCensusRuns && !(options.cancelled && options.cancelled())) {
    if (const Status counted =
            kernel.check_result({.groups = groups, .trips = trips, .repeats = 1});
        !counted) {
      return counted;
    }
    if (reading.peak * 2 > groups && groups < most) {
      groups = std::min(groups * kCensusGrowth, most);
      peaks.clear();
      continue;
    }
    if (reading.peak == groups) {
      return fail(ErrorCode::kUnsupported,
                  fmt::format("{}: all {} groups that may be launched are in flight at once",
                              kernel.kernel().id, groups));
    }
    peaks.push_back(reading.peak);
  }
  if (peaks.size() == kCensusRuns) {
    const auto [least, largest] = std::minmax_element(peaks.begin(), peaks.end());
    point.median = *largest;  // an exact count; a smaller one is of groups that came late
    point.p5 = *least;
    point.p95 = *largest;
    point.samples = kCensusRuns;
  }
  return {};
}

}  // namespace gputrace::bench
