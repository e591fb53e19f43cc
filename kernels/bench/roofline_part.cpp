#include "kernels/bench/roofline_part.h"

#include <fmt/format.h>

#include <algorithm>
#include <numeric>
#include <random>
#include <set>
#include <utility>

#include "kernels/bench/cases/additions.h"
#include "kernels/bench/proven_kernel.h"
#include "kernels/bench/rate_check.h"

namespace gputrace::bench {

using analysis::BenchPoint;
using analysis::BenchSeries;
using analysis::TestResult;
using analysis::TestStatus;

namespace {

/// For the proof of a result: enough trips for an error to show, few enough for a CPU to follow.
constexpr std::uint32_t kProofTrips = 7;
constexpr int kSecondLooks = 2;
/// Smaller than this a working set tells nothing of memory.
constexpr std::uint64_t kSmallestBytes = 1ULL << 20U;

BenchSeries& series_of(TestResult& test, const std::string& name) {
  const auto found = std::ranges::find(test.series, name, &BenchSeries::name);
  if (found != test.series.end()) {
    return *found;
  }
  test.series.push_back({.name = name, .points = {}});
  return test.series.back();
}

void add_counts(TestResult& test, const std::vector<analysis::CountCheck>& counts) {
  for (const analysis::CountCheck& count : counts) {
    const bool known = std::ranges::any_of(test.counts, [&](const analysis::CountCheck& other) {
      return other.kernel == count.kernel && other.operation == count.operation;
    });
    if (!known) {
      test.counts.push_back(count);
    }
  }
}

/// What is measured, one part after the other.
class Measurement {
 public:
  Measurement(RooflineProgress& progress, std::vector<RooflineKernel> kernels,
              std::vector<RooflinePoint> points)
      : progress_(progress), kernels_(std::move(kernels)), points_(std::move(points)) {
    if (!progress.context.runner.simulated() && !progress.context.additions_per_ns) {
      add_additions();
    }
    proven_.resize(kernels_.size());
    errors_.resize(kernels_.size());
    notes_.resize(kernels_.size());
    entered_.resize(points_.size());
  }

  void run() {
    std::vector<std::size_t> order(kernels_.size());
    std::iota(order.begin(), order.end(), std::size_t{0});
    std::mt19937_64 random(progress_.context.options.seed);
    std::shuffle(order.begin(), order.end(), random);
    std::stable_partition(order.begin(), order.end(), [&](std::size_t kernel) {
      return kernel >= kernels_.size() - additions_;
    });
    std::set<unsigned> ranks;
    for (const RooflinePoint& point : points_) {
      ranks.insert(point.rank);
    }
    for (const unsigned rank : ranks) {
      run_rank(rank, order);
    }
    for (std::size_t p = 0; p < points_.size(); ++p) {
      if (is_left_out_ && !entered_[p]) {
        progress_.expect(-1);
      }
    }
  }

  /// Points of each of `tests` for which the share was spent.
  [[nodiscard]] std::vector<std::size_t> left_out(std::size_t tests) const {
    std::vector<std::size_t> counts(tests, 0);
    for (std::size_t p = 0; is_left_out_ && p < points_.size(); ++p) {
      if (!entered_[p] && !is_additions(p)) {
        ++counts[points_[p].test];
      }
    }
    return counts;
  }

  void enter(std::vector<TestResult>& tests) {
    for (std::size_t p = 0; p < points_.size(); ++p) {
      // A point that Ctrl-C came before is not there.
      if (auto& entered = entered_[p]) {
        enter(p, *entered, is_additions(p) ? progress_.additions : tests[points_[p].test]);
      }
    }
  }

 private:
  struct Entered {
    BenchPoint point;
    TestResult proofs;  ///< nothing but its proofs and counts
  };

  /// As many kernels at a time as memory is for; one, where the share may be spent with each.
  void run_rank(unsigned rank, std::span<const std::size_t> all) {
    std::vector<std::size_t> order;
    std::ranges::copy_if(all, std::back_inserter(order), [&](std::size_t kernel) {
      return std::ranges::any_of(points_, [&](const RooflinePoint& point) {
        return point.kernel == kernel && point.rank == rank;
      });
    });
    const std::uint64_t budget = rank == 0 ? budget_bytes() : 0;
    for (auto next = order.begin(); next != order.end();) {
      is_left_out_ = is_left_out_ || (rank > 0 && progress_.share_is_spent());
      if (is_left_out_) {
        return;
      }
      std::uint64_t bytes = 0;
      const auto first = next;
      while (next != order.end() && (next == first || bytes + bytes_of(*next) <= budget)) {
        bytes += bytes_of(*next);
        prepare(*next++);
      }
      measure_prepared(rank);
      // Before a lost device is opened again nothing of it may be left.
      std::ranges::for_each(proven_, [](auto& proven) { proven.reset(); });
      if (progress_.lost && progress_.context.runner.reopen()) {
        progress_.lost.reset();
      }
    }
  }

  void enter(std::size_t p, Entered& entered, TestResult& test) const {
    auto& points = series_of(test, points_[p].series).points;
    points.push_back(std::move(entered.point));
    if (is_additions(p)) {
      points.back().x = static_cast<double>(points.size());
    }
    test.result = combine(test.result, entered.proofs.result);
    test.isa = combine(test.isa, entered.proofs.isa);
    test.rate = combine(test.rate, entered.proofs.rate);
    add_counts(test, entered.proofs.counts);
  }

  /// They come first, so that their rate is known when those of the others are looked at. With
  /// every subgroup size: one may be twice as fast as the other.
  void add_additions() {
    const vulkan::DeviceFacts& facts = progress_.context.runner.facts();
    std::vector<RooflinePoint> additions;
    const auto add = [&](std::optional<std::uint32_t> size, std::string series) {
      kernels_.push_back({.sized = additions_case(facts, size)});
      additions.push_back({.kernel = kernels_.size() - 1,
                           .label = kernels_.back().sized.kernel.id,
                           .series = std::move(series)});
    };
    for (const std::uint32_t size : facts.subgroup_sizes) {
      add(size, fmt::format("wave{}", size));
    }
    if (additions.empty()) {
      add(std::nullopt, "driver's choice");
    }
    additions_ = additions.size();
    points_.insert(points_.begin(), additions.begin(), additions.end());
    progress_.expect(static_cast<std::ptrdiff_t>(additions_));
  }

  [[nodiscard]] bool is_additions(std::size_t point) const { return point < additions_; }

  /// Half of what is needed is for the fresh buffers of a proof.
  [[nodiscard]] std::uint64_t budget_bytes() const {
    constexpr std::uint64_t kMost = 4ULL << 30U;
    return std::min(kMost, progress_.context.runner.facts().memory_bytes / 3);
  }

  [[nodiscard]] std::uint64_t bytes_of(std::size_t kernel) const {
    return memory_of(kernels_[kernel].sized.kernel);
  }

  [[nodiscard]] Launch launch_of(const RooflinePoint& point) const {
    Launch launch = kernels_[point.kernel].sized.launch;
    launch.trips = point.trips.value_or(launch.trips);
    launch.groups = std::min(launch.groups, point.groups.value_or(launch.groups));
    return launch;
  }

  [[nodiscard]] double x_of(const RooflinePoint& point) const {
    return point.x_is_bytes ? static_cast<double>(kernels_[point.kernel].bytes) : point.x;
  }

  void prepare(std::size_t index) {
    RooflineKernel& kernel = kernels_[index];
    const auto point = std::ranges::find(points_, index, &RooflinePoint::kernel);
    if (errors_[index]) {
      return;  // of an earlier rank: it lacks what it lacked then
    }
    errors_[index] = progress_.lost;
    while (point != points_.end() && !progress_.lost && !progress_.cancelled()) {
      Launch launch = launch_of(*point);
      if (kernel.sized.scale_trips) {
        launch.trips = kProofTrips;
      }
      auto ready = prepare_and_prove(progress_.context.runner, kernel.sized.kernel, launch);
      if (ready) {
        proven_[index] = std::move(*ready);
        return;
      }
      if (ready.error().code != ErrorCode::kNoSpace || !kernel.smaller ||
          kernel.bytes < 2 * kSmallestBytes) {
        errors_[index] = ready.error();
        note_loss(ready.error());
        return;
      }
      notes_[index] = fmt::format("too little memory for {} MiB: {} MiB instead",
                                  kernel.bytes >> 20U, kernel.bytes >> 21U);
      kernel.bytes /= 2;
      kernel.sized = kernel.smaller(kernel.bytes);
    }
  }

  void note_loss(const Error& error) {
    if (device_is_lost(error)) {
      progress_.lost = error;
    }
  }

  /// All points whose kernels are ready, and those whose kernels cannot be.
  void measure_prepared(unsigned rank) {
    std::vector<PlannedPoint> plan;
    std::vector<std::size_t> planned;
    for (std::size_t p = 0; p < points_.size(); ++p) {
      const RooflinePoint& point = points_[p];
      if (point.rank != rank || entered_[p]) {
        continue;
      }
      const auto& ready = proven_[point.kernel];
      const bool runs = ready && ready->result != analysis::Proof::kFailed && !progress_.lost;
      if (runs) {
        planned.push_back(p);
        plan.push_back({.kernel = ready->kernel.get(),
                        .launch = launch_of(point),
                        .scale_trips = kernels_[point.kernel].sized.scale_trips,
                        .label = point.label});
      } else if (ready || errors_[point.kernel]) {
        enter_unmeasured(p);
      }
    }
    if (plan.empty()) {
      return;
    }
    const MeasurementOptions options = progress_.options();
    const auto measured = measure(plan, options, progress_.context.observer);
    for (std::size_t i = 0; i < planned.size(); ++i) {
      enter_measured(planned[i], measured[i]);
    }
    enter_rates(plan, planned, measured);
  }

  void enter_unmeasured(std::size_t p) {
    Entered& entered = entered_[p].emplace();
    entered.point.x = x_of(points_[p]);
    entered.point.label = points_[p].label;
    if (progress_.lost) {
      enter_error(*progress_.lost, entered.point);
    } else if (const auto& ready = proven_[points_[p].kernel]) {
      enter_proofs(*ready, entered.point, entered.proofs);
    } else if (const auto& error = errors_[points_[p].kernel]) {
      enter_error(*error, entered.point);
    }
    progress_.expect(-1);
  }

  void enter_measured(std::size_t p, const MeasuredPoint& measured) {
    const RooflinePoint& planned = points_[p];
    const auto& timing = measured.timing;
    const auto& error = measured.error;
    const auto& proven = proven_[planned.kernel];
    if ((!timing && !error) || !proven) {
      return;
    }
    Entered& entered = entered_[p].emplace();
    BenchPoint& point = entered.point;
    point.x = x_of(planned);
    point.label = planned.label;
    enter_proofs(*proven, point, entered.proofs);
    if (!timing) {
      enter_error(*error, point);
      note_loss(*error);
      return;
    }
    const KernelCase& kernel = kernels_[planned.kernel].sized.kernel;
    const double work = planned.work(kernel, measured.launch);
    point.median = work / timing->median_ns;
    point.p5 = work / timing->p95_ns;
    point.p95 = work / timing->p5_ns;
    enter_timing(*timing, point);
    if (is_additions(p) && point.status == TestStatus::kOk) {
      note_additions(p, measured);
    }
    if (point.why.empty()) {
      point.why = notes_[planned.kernel];
    }
  }

  /// By its fastest runs: others must not look too fast because it was disturbed.
  void note_additions(std::size_t p, const MeasuredPoint& measured) {
    const auto rate = measured.timing
                          ? lane_operations_per_ns(kernels_[points_[p].kernel].sized.kernel,
                                                   measured.launch, measured.timing->p5_ns)
                          : std::nullopt;
    if (rate) {
      progress_.additions_per_ns = std::max(progress_.additions_per_ns.value_or(0), *rate);
    }
  }

  [[nodiscard]] RateCheck rate_of(std::size_t p, const MeasuredPoint& measured) const {
    const auto& timing = measured.timing;
    if (!timing || is_additions(p)) {
      return {};
    }
    KernelCase kernel = kernels_[points_[p].kernel].sized.kernel;
    kernel.id = points_[p].label;  // points may share a kernel, and a reason names the point
    return check_rate(kernel, measured.launch, timing->median_ns, progress_.additions_per_ns);
  }

  /// Additions that other programs disturbed are measured again before anything is suspected.
  void enter_rates(std::span<const PlannedPoint> plan, std::span<const std::size_t> planned,
                   std::span<const MeasuredPoint> measured) {
    const auto too_fast = [&] {
      for (std::size_t i = 0; i < planned.size(); ++i) {
        if (rate_of(planned[i], measured[i]).proof == analysis::Proof::kFailed) {
          return true;
        }
      }
      return false;
    };
    const auto with_additions = static_cast<std::size_t>(
        std::ranges::count_if(planned, [&](std::size_t p) { return is_additions(p); }));
    for (int look = 0; look < kSecondLooks && with_additions > 0 && too_fast(); ++look) {
      MeasurementOptions options = progress_.context.options;
      options.progress = nullptr;
      const auto again = measure(plan.first(with_additions), options, nullptr);
      for (std::size_t i = 0; i < with_additions; ++i) {
        note_additions(planned[i], again[i]);
      }
    }
    for (std::size_t i = 0; i < planned.size(); ++i) {
      const RateCheck rate = rate_of(planned[i], measured[i]);
      auto& entered = entered_[planned[i]];
      if (!entered) {
        continue;
      }
      entered->proofs.rate = combine(entered->proofs.rate, rate.proof);
      if (rate.proof == analysis::Proof::kFailed && entered->point.status == TestStatus::kOk) {
        entered->point.status = TestStatus::kSuspect;
        entered->point.why = rate.why;
      }
    }
  }

  RooflineProgress& progress_;
  std::vector<RooflineKernel> kernels_;
  std::vector<RooflinePoint> points_;
  std::size_t additions_ = 0;  ///< so many points come first, and kernels last
  bool is_left_out_ = false;   ///< what was not entered: the share was spent
  std::vector<std::optional<ProvenKernel>> proven_;
  std::vector<std::optional<Error>> errors_;
  std::vector<std::string> notes_;
  std::vector<std::optional<Entered>> entered_;
};

}  // namespace

std::vector<std::size_t> measure_points(RooflineProgress& progress,
                                        std::vector<RooflineKernel> kernels,
                                        const std::vector<RooflinePoint>& points,
                                        std::vector<TestResult>& tests) {
  Measurement measurement(progress, std::move(kernels), points);
  measurement.run();
  measurement.enter(tests);
  return measurement.left_out(tests.size());
}

}  // namespace gputrace::bench
