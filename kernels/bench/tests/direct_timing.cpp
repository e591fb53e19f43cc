#include "kernels/bench/tests/direct_timing.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <vector>

namespace gputrace::bench {

namespace {

constexpr std::uint32_t kGrowth = 4;
/// Of the wanted length, what is near enough.
constexpr double kNear = 0.5;

/// Samples as they come, until there are enough of them or no time is left.
class Samples {
 public:
  Samples(const DirectOptions& options, Clock& clock)
      : options_(options), clock_(clock), start_ns_(clock.now_ns()) {}

  [[nodiscard]] bool wanted() const {
    if (ns_.size() < kFewestSamples) {
      return true;
    }
    const auto spent_ns = static_cast<double>(clock_.now_ns() - start_ns_);
    return ns_.size() < options_.samples && spent_ns < options_.point_limit_ns;
  }
  void add(double ns) { ns_.push_back(ns); }

  [[nodiscard]] Timing timing() const {
    Timing timing;
    timing.median_ns = quantile(ns_, 0.5);
    timing.p5_ns = quantile(ns_, 0.05);
    timing.p95_ns = quantile(ns_, 0.95);
    timing.min_ns = quantile(ns_, 0);
    timing.samples = ns_.size();
    timing.start_ns = start_ns_;
    timing.end_ns = clock_.now_ns();
    const auto quarter = static_cast<std::ptrdiff_t>(ns_.size() / 4);
    if (quarter >= 2) {
      const double first = quantile({ns_.begin(), ns_.begin() + quarter}, 0.5);
      const double last = quantile({ns_.end() - quarter, ns_.end()}, 0.5);
      timing.drifts = std::abs(last - first) > kDriftLimit * first;
    }
    return timing;
  }

 private:
  const DirectOptions& options_;
  Clock& clock_;
  std::int64_t start_ns_;
  std::vector<double> ns_;
};

bool cancelled(const DirectOptions& options) {
  return options.cancelled && options.cancelled();
}

/// A run by its timestamps where it has any.
double run_ns_of(const vulkan::RunTime& time) {
  return time.gpu_ns.value_or(time.wall_ns);
}

/// So many that a submission is of the wanted length. Absent: cancelled.
Result<std::optional<std::uint32_t>> find_repeats(
    const DirectOptions& options,
    const std::function<Result<vulkan::RunTime>(std::uint32_t)>& run) {
  std::uint32_t repeats = 1;
  // Drivers make ready at the first submission of a kind.
  if (const auto first = run(1); !first) {
    return tl::unexpected(first.error());
  }
  while (!cancelled(options)) {
    const auto time = run(repeats);
    if (!time) {
      return tl::unexpected(time.error());
    }
    if (run_ns_of(*time) >= kNear * options.run_ns || repeats >= options.most_repeats) {
      return repeats;
    }
    repeats = std::min(repeats * kGrowth, options.most_repeats);
  }
  return std::nullopt;
}

/// One sample: ns of a repeat.
Result<double> sample_of(std::uint32_t repeats, bool& from_timestamps,
                         const std::function<Result<vulkan::RunTime>(std::uint32_t)>& run) {
  const auto time = run(repeats);
  if (!time) {
    return tl::unexpected(time.error());
  }
  const vulkan::RunTime& whole = *time;
  from_timestamps = whole.gpu_ns.has_value();
  if (whole.gpu_ns) {
    const std::uint64_t ticks = whole.ticks.value_or(kMinTicks);
    if (ticks < kMinTicks) {
      return fail(ErrorCode::kCorrupt, fmt::format("{} of them took {} ticks of the GPU's clock, "
                                                   "too few to be timed",
                                                   repeats, ticks));
    }
    return *whole.gpu_ns / repeats;
  }
  const auto longer = run(repeats * kGrowth);
  if (!longer) {
    return tl::unexpected(longer.error());
  }
  return (longer->wall_ns - time->wall_ns) / ((kGrowth - 1.0) * repeats);
}

}  // namespace

Result<std::optional<Timing>> time_calls(const DirectOptions& options, Clock& clock,
                                         const std::function<Status()>& call) {
  const auto timed = [&](std::uint64_t calls) -> Result<double> {
    const std::int64_t start_ns = clock.now_ns();
    for (std::uint64_t i = 0; i < calls; ++i) {
      if (const Status done = call(); !done) {
        return tl::unexpected(done.error());
      }
    }
    return static_cast<double>(clock.now_ns() - start_ns);
  };
  if (const auto first = timed(1); !first) {
    return tl::unexpected(first.error());
  }
  constexpr std::uint64_t kMostCalls = 1U << 16U;
  std::uint64_t calls = 1;
  auto trial_ns = timed(calls);
  while (trial_ns && *trial_ns < kNear * options.sample_ns && calls < kMostCalls) {
    calls *= kGrowth;
    trial_ns = timed(calls);
  }
  if (!trial_ns) {
    return tl::unexpected(trial_ns.error());
  }
  Samples samples(options, clock);
  while (samples.wanted()) {
    if (cancelled(options)) {
      return std::nullopt;
    }
    const auto ns = timed(calls);
    if (!ns) {
      return tl::unexpected(ns.error());
    }
    samples.add(*ns / static_cast<double>(calls));
  }
  Timing timing = samples.timing();
  timing.wall_median_ns = timing.median_ns;
  if (!(timing.median_ns > 0)) {
    return fail(ErrorCode::kCorrupt, fmt::format("{} calls took no time", calls));
  }
  return timing;
}

Result<std::optional<Timing>> time_repeats(
    const DirectOptions& options, Clock& clock,
    const std::function<Result<vulkan::RunTime>(std::uint32_t repeats)>& run) {
  const auto found = find_repeats(options, run);
  if (!found) {
    return tl::unexpected(found.error());
  }
  const std::optional<std::uint32_t>& repeats = *found;
  if (!repeats) {
    return std::nullopt;
  }
  Samples samples(options, clock);
  bool from_timestamps = false;
  while (samples.wanted()) {
    if (cancelled(options)) {
      return std::nullopt;
    }
    const auto ns = sample_of(*repeats, from_timestamps, run);
    if (!ns) {
      return tl::unexpected(ns.error());
    }
    samples.add(*ns);
  }
  Timing timing = samples.timing();
  // Other programs on the processor make a long run the shorter one, of a few. Nothing is wrong
  // then but that this machine cannot time it now.
  if (!(timing.median_ns > 0)) {
    return fail(ErrorCode::kUnsupported,
                fmt::format("{} and {} of them took as long: no time of one follows", *repeats,
                            *repeats * kGrowth));
  }
  timing.from_timestamps = from_timestamps;
  timing.p5_ns = std::clamp(timing.p5_ns, 0.0, timing.median_ns);
  return timing;
}

Result<std::optional<Timing>> time_submissions(
    const DirectOptions& options, Clock& clock,
    const std::function<Result<vulkan::RunTime>()>& run) {
  if (const auto first = run(); !first) {
    return tl::unexpected(first.error());
  }
  Samples samples(options, clock);
  while (samples.wanted()) {
    if (cancelled(options)) {
      return std::nullopt;
    }
    const auto time = run();
    if (!time) {
      return tl::unexpected(time.error());
    }
    samples.add(time->wall_ns);
  }
  Timing timing = samples.timing();
  timing.wall_median_ns = timing.median_ns;
  return timing;
}

}  // namespace gputrace::bench
