#include "kernels/bench/measurement.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <deque>
#include <numeric>
#include <random>
#include <utility>

namespace gputrace::bench {

namespace {

/// Of kMaxDispatchNs, what one dispatch is planned for: clocks change, estimates err.
constexpr double kDispatchMargin = 0.8;
/// A run of at least this share of the wanted length tells the length well enough.
constexpr double kGoodEstimate = 0.25;
constexpr std::uint32_t kGrowth = 8;
constexpr int kLooks = 3;
constexpr int kTrials = 3;
constexpr std::uint32_t kMaxRepeats = 1U << 16U;
/// Runs are steady when the best of the last few is as good as the best of the few before.
constexpr std::size_t kSteadyRuns = 4;
constexpr double kSteadyWithin = 0.01;

/// The times of one run, and what they are counted with.
struct Run {
  double ns = 0;
  double wall_ns = 0;
  bool from_timestamps = false;
  bool too_short = false;
  std::string length;  ///< in words, for the error
};

Run look_at(const vulkan::RunTime& time) {
  if (time.gpu_ns) {
    const bool short_ticks = time.ticks && *time.ticks < kMinTicks;
    return {.ns = *time.gpu_ns,
            .wall_ns = time.wall_ns,
            .from_timestamps = true,
            .too_short = short_ticks || !(*time.gpu_ns > 0),
            .length = time.ticks ? fmt::format("{} ticks of the GPU's clock", *time.ticks)
                                 : fmt::format("{:.0f} ns", *time.gpu_ns)};
  }
  return {.ns = time.wall_ns,
          .wall_ns = time.wall_ns,
          .from_timestamps = false,
          .too_short = time.wall_ns < kMinWallNs,
          .length = fmt::format("{:.0f} ns", time.wall_ns)};
}

tl::unexpected<Error> fail_short(const KernelCase& kernel, const Run& run) {
  return fail(ErrorCode::kCorrupt,
              fmt::format("{}: a run took {}, too short to be timed; was the device lost?",
                          kernel.id, run.length));
}

std::uint32_t scaled(std::uint32_t count, double factor, std::uint32_t limit) {
  const double wanted = std::floor(static_cast<double>(count) * factor);
  return static_cast<std::uint32_t>(std::clamp(wanted, 1.0, static_cast<double>(limit)));
}

/// One point from its first small dispatch to its last sample.
class Stretch {
 public:
  Stretch(const PlannedPoint& point, const MeasurementOptions& options, PointObserver* observer,
          Clock& clock)
      : point_(point),
        options_(options),
        observer_(observer),
        clock_(clock),
        launch_(point.launch) {}

  MeasuredPoint measure() {
    MeasuredPoint result;
    if (const Status status = calibrate(); !status) {
      result.error = status.error();
    } else if (const Status warm = warm_up(); !warm) {
      result.error = warm.error();
    } else if (!cancelled()) {
      sample(result);
    }
    result.launch = launch_;
    return result;
  }

 private:
  [[nodiscard]] bool cancelled() const { return options_.cancelled && options_.cancelled(); }
  [[nodiscard]] const KernelCase& kernel() const { return point_.kernel->kernel(); }

  Result<Run> run() {
    const auto time = point_.kernel->run(launch_);
    if (!time) {
      return fail(time.error(), kernel().id);
    }
    return look_at(*time);
  }

  /// A run to estimate from. One that seems long enough is repeated, and the shortest counts: a
  /// thread that had to wait on a busy machine would make all that follow too short.
  Result<Run> trial(double enough_ns) {
    auto best = run();
    for (int again = 1; again < kTrials && best && best->ns >= enough_ns; ++again) {
      if (best->ns > kMaxUnsplitNs || cancelled()) {
        break;
      }
      const auto next = run();
      if (!next) {
        return next;
      }
      if (next->ns < best->ns) {
        best = next;
      }
    }
    return best;
  }

  /// The best of a few: other programs make a run longer, never shorter.
  Result<Run> undisturbed_run() {
    auto best = run();
    double spent_ns = best ? best->ns : 0;
    for (int i = 1; i < kLooks && best && spent_ns < options_.run_ns; ++i) {
      auto next = run();
      spent_ns += next ? next->ns : 0;
      if (!next || next->ns < best->ns) {
        best = std::move(next);
      }
    }
    return best;
  }

  /// Finds the trips and repeats of a run of the wanted length, from small to large: nothing is
  /// known of this kernel on this device yet.
  Status calibrate() {
    if (!point_.scale_trips && point_.launch.trips > kMaxTrips) {
      return fail(ErrorCode::kInvalidArgument,
                  fmt::format("{}: {} trips are more than the {} that every device runs",
                              kernel().id, point_.launch.trips, kMaxTrips));
    }
    const std::uint32_t most_trips = point_.scale_trips ? kMaxTrips : point_.launch.trips;
    const double dispatch_ns = std::min(options_.run_ns, kDispatchMargin * kMaxDispatchNs);
    launch_.trips = 1;
    launch_.repeats = 1;
    // Drivers finish their compilation at the first dispatch.
    if (const auto first = run(); !first) {
      return tl::unexpected(first.error());
    }
    const double enough_ns = kGoodEstimate * dispatch_ns;
    auto now = trial(enough_ns);
    while (now && !cancelled() && launch_.trips < most_trips && now->ns <= kMaxUnsplitNs &&
           (!point_.scale_trips || now->ns < enough_ns)) {
      const std::uint32_t growth = now->ns * kGrowth > kMaxUnsplitNs ? 2 : kGrowth;
      launch_.trips = scaled(launch_.trips, growth, most_trips);
      now = trial(enough_ns);
    }
    // The runs so far were short, and perhaps disturbed: what they say is looked at again.
    for (int look = 0; look < kLooks && now && point_.scale_trips && now->ns > 0; ++look) {
      const std::uint32_t before =
          std::exchange(launch_.trips, scaled(launch_.trips, dispatch_ns / now->ns, most_trips));
      if (launch_.trips == before) {
        break;
      }
      now = undisturbed_run();
    }
    if (!now) {
      return tl::unexpected(now.error());
    }
    if (now->ns > kMaxUnsplitNs) {
      return fail(ErrorCode::kUnsupported,
                  fmt::format("{}: one dispatch of {} trips takes {:.1f} s and cannot be split; "
                              "drivers reset a GPU that seems to hang",
                              kernel().id, launch_.trips, now->ns * 1e-9));
    }
    return calibrate_repeats(*now);
  }

  /// `now`: one dispatch.
  Status calibrate_repeats(Run now) {
    while (!cancelled() && now.ns < kGoodEstimate * options_.run_ns &&
           launch_.repeats < kMaxRepeats) {
      launch_.repeats = scaled(launch_.repeats, kGrowth, kMaxRepeats);
      const auto next = trial(kGoodEstimate * options_.run_ns);
      if (!next) {
        return tl::unexpected(next.error());
      }
      now = *next;
    }
    if (now.too_short && !cancelled()) {
      return fail_short(kernel(), now);
    }
    for (int look = 0; look < kLooks && now.ns > 0; ++look) {
      const std::uint32_t before = std::exchange(
          launch_.repeats, scaled(launch_.repeats, options_.run_ns / now.ns, kMaxRepeats));
      if (launch_.repeats == before) {
        break;
      }
      const auto next = undisturbed_run();
      if (!next) {
        return tl::unexpected(next.error());
      }
      now = *next;
    }
    return {};
  }

  Status warm_up() {
    std::deque<double> recent;
    const std::int64_t until_ns = clock_.now_ns() + static_cast<std::int64_t>(options_.warm_up_ns);
    while (!cancelled() && clock_.now_ns() < until_ns) {
      const auto now = run();
      if (!now) {
        return tl::unexpected(now.error());
      }
      recent.push_back(now->ns);
      if (recent.size() < 2 * kSteadyRuns) {
        continue;
      }
      const auto middle = recent.begin() + kSteadyRuns;
      const double before = *std::min_element(recent.begin(), middle);
      const double after = *std::min_element(middle, recent.end());
      if (std::abs(after - before) <= kSteadyWithin * before) {
        break;
      }
      recent.pop_front();
    }
    return {};
  }

  void sample(MeasuredPoint& result) {
    Timing timing;
    if (observer_ != nullptr) {
      observer_->begin_point(point_.label,
                             kernel().stimulus ? kernel().stimulus(launch_) : Stimulus{});
      timing.clock_before_mhz = observer_->clock_mhz();
    }
    timing.start_ns = clock_.now_ns();
    result.error = take_samples(timing);
    timing.end_ns = clock_.now_ns();
    if (observer_ != nullptr) {
      timing.power_w = timing.power_w ? timing.power_w : observer_->power_w();
      timing.clock_after_mhz = observer_->clock_mhz();
      observer_->end_point(point_.label);
    }
    if (!result.error && ns_.size() >= kFewestSamples) {
      summarize(timing);
      result.timing = timing;
    }
  }

  std::optional<Error> take_samples(Timing& timing) {
    const std::size_t wanted = std::max(options_.samples, kFewestSamples);
    const std::int64_t until_ns =
        timing.start_ns + static_cast<std::int64_t>(options_.point_limit_ns);
    timing.from_timestamps = true;
    while (ns_.size() < wanted && !cancelled()) {
      if (ns_.size() >= kFewestSamples && clock_.now_ns() >= until_ns) {
        break;
      }
      const auto now = run();
      if (!now) {
        return now.error();
      }
      if (now->too_short) {
        return fail_short(kernel(), *now).value();
      }
      ns_.push_back(now->ns);
      wall_ns_.push_back(now->wall_ns);
      timing.from_timestamps = timing.from_timestamps && now->from_timestamps;
      // Sensors average over some time: at the middle they have seen this point alone.
      if (observer_ != nullptr && ns_.size() == (wanted + 1) / 2) {
        timing.power_w = observer_->power_w();
      }
    }
    return std::nullopt;
  }

  void summarize(Timing& timing) const {
    timing.samples = ns_.size();
    timing.median_ns = quantile(ns_, 0.5);
    timing.p5_ns = quantile(ns_, 0.05);
    timing.p95_ns = quantile(ns_, 0.95);
    timing.min_ns = *std::min_element(ns_.begin(), ns_.end());
    timing.wall_median_ns = quantile(wall_ns_, 0.5);
    const auto quarter = static_cast<std::ptrdiff_t>(ns_.size() / 4);
    if (quarter >= 2) {
      const double first = quantile({ns_.begin(), ns_.begin() + quarter}, 0.5);
      const double last = quantile({ns_.end() - quarter, ns_.end()}, 0.5);
      timing.drifts = std::abs(last - first) > kDriftLimit * first;
    }
  }

  const PlannedPoint& point_;
  const MeasurementOptions& options_;
  PointObserver* observer_;
  Clock& clock_;
  Launch launch_;
  std::vector<double> ns_;
  std::vector<double> wall_ns_;
};

}  // namespace

bool device_is_lost(const Error& error) {
  return error.code == ErrorCode::kIo || error.code == ErrorCode::kBusy;
}

double quantile(std::vector<double> values, double share) {
  if (values.empty()) {
    return 0;
  }
  std::sort(values.begin(), values.end());
  const double place = std::clamp(share, 0.0, 1.0) * static_cast<double>(values.size() - 1);
  const auto below = static_cast<std::size_t>(place);
  const std::size_t above = std::min(below + 1, values.size() - 1);
  return std::lerp(values[below], values[above], place - static_cast<double>(below));
}

std::vector<MeasuredPoint> measure(std::span<const PlannedPoint> plan,
                                   const MeasurementOptions& options, PointObserver* observer) {
  MonotonicClock monotonic;
  Clock& clock = options.clock != nullptr ? *options.clock : monotonic;
  std::vector<std::size_t> order(plan.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::mt19937_64 random(options.seed);
  std::shuffle(order.begin(), order.end(), random);

  std::vector<MeasuredPoint> points(plan.size());
  const std::int64_t start_ns = clock.now_ns();
  std::optional<Error> lost;
  for (std::size_t done = 0; done < order.size(); ++done) {
    const std::size_t index = order[done];
    points[index].launch = plan[index].launch;
    if (lost) {
      points[index].error = lost;
      continue;
    }
    if (options.cancelled && options.cancelled()) {
      continue;
    }
    points[index] = Stretch(plan[index], options, observer, clock).measure();
    if (const auto& error = points[index].error; error && device_is_lost(*error)) {
      lost = error;
    }
    if (options.progress) {
      const double per_point_s =
          static_cast<double>(clock.now_ns() - start_ns) * 1e-9 / static_cast<double>(done + 1);
      options.progress(done + 1, order.size(),
                       per_point_s * static_cast<double>(order.size() - done - 1));
    }
  }
  return points;
}

}  // namespace gputrace::bench
