// Times a kernel without fooling itself: warm-up, calibrated run length, medians with spread,
// drift.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "daemon/base/result.h"
#include "daemon/base/time.h"
#include "kernels/bench/runner.h"

namespace gputrace::bench {

/// A run shorter than this is a failure: a lost device returns at once, and its rate would be
/// infinite.
inline constexpr std::uint64_t kMinTicks = 10;
/// The same where there are no timestamps: a submission alone takes longer.
inline constexpr double kMinWallNs = 10e3;
/// One dispatch stays below this: drivers reset a GPU that seems to hang.
inline constexpr double kMaxDispatchNs = 50e6;
/// A dispatch that cannot be split (its trips are what is measured) is refused above this.
inline constexpr double kMaxUnsplitNs = 1e9;
inline constexpr std::size_t kMinSamples = 20;
/// Between the first and the last quarter of the samples.
inline constexpr double kDriftLimit = 0.02;

struct MeasurementOptions {
  double run_ns = 20e6;  ///< aimed at for one submission
  std::size_t samples = kMinSamples;
  double warm_up_ns = 1e9;  ///< at most; ends earlier when the time of a run is steady
  double point_limit_ns =
      4e9;  ///< a point that takes longer gets fewer samples, never below kFewestSamples
  std::uint64_t seed = 1;
  /// On `clock`: the end of the test's share of the run. Points after it that only make an axis
  /// denser are left out.
  std::optional<std::int64_t> share_end_ns = std::nullopt;
  std::function<bool()> cancelled;  ///< Ctrl-C: what was measured stays
  std::function<void(std::size_t done, std::size_t of, double seconds_left)> progress;
  Clock* clock = nullptr;  ///< null = CLOCK_MONOTONIC
};

/// Times of one submission, in ns: GPU timestamps where there are any, else wall.
struct Timing {
  double median_ns = 0;
  double p5_ns = 0;
  double p95_ns = 0;
  double min_ns = 0;
  double wall_median_ns = 0;
  std::size_t samples = 0;
  bool from_timestamps = false;
  bool drifts = false;
  std::optional<double> clock_before_mhz;
  std::optional<double> clock_after_mhz;
  std::optional<double> power_w;
  std::int64_t start_ns = 0;  ///< CLOCK_MONOTONIC
  std::int64_t end_ns = 0;
};

struct PlannedPoint {
  PreparedKernel* kernel = nullptr;
  Launch launch;             ///< trips or repeats are scaled to the run length; `groups` stays
  bool scale_trips = false;  ///< else repeats: the trips are part of what is measured
  std::string label;
};

struct MeasuredPoint {
  Launch launch;                 ///< as it was run
  std::optional<Timing> timing;  ///< absent: cancelled or failed
  std::optional<Error> error;
};

/// How often a point is run at least, however slow it is.
inline constexpr std::size_t kFewestSamples = 5;

/// An error of a run after which the device is of no more use: lost, or hanging.
[[nodiscard]] bool device_is_lost(const Error& error);

/// The value below which `share` of `values` lie, between neighbours by interpolation. Of none: 0.
[[nodiscard]] double quantile(std::vector<double> values, double share);

/// Measures the points in shuffled order, each in one stretch of time, and returns them in the
/// order given. A lost device ends the plan: the rest are failed points with that error.
[[nodiscard]] std::vector<MeasuredPoint> measure(std::span<const PlannedPoint> plan,
                                                 const MeasurementOptions& options,
                                                 PointObserver* observer);

}  // namespace gputrace::bench
