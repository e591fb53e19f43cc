#include "kernels/bench/tests/icache/icache.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <utility>

#include "kernels/bench/proven_kernel.h"
#include "kernels/bench/tests/icache/icache_cases.h"
#include "kernels/bench/tests/point_loop.h"

namespace gputrace::bench {
namespace {

using analysis::BenchPoint;
using analysis::BenchSeries;
using analysis::TestResult;
using analysis::TestStatus;

constexpr std::uint32_t kSmallest = 256;
constexpr std::uint32_t kLargest = 256 * 1024;
constexpr std::uint32_t kLargestQuick = 64 * 1024;
/// Lavapipe compiles for a processor, which takes many times as long.
constexpr std::uint32_t kLargestOfCpu = 16 * 1024;
constexpr std::uint32_t kLargestQuickOfCpu = 4 * 1024;
constexpr std::uint32_t kAllGroups = 8192;
constexpr std::uint32_t kAllCpuGroups = 32;
constexpr std::uint32_t kManyChains = 4;
/// Drivers take at most the square of the length to compile.
constexpr double kCompileGrowth = 4;
/// A clock that rises shows as drift: there are too many kernels to wait for it with each.
constexpr double kRunNs = 4e6;
constexpr double kWarmUpNs = 40e6;
constexpr double kQuickRunNs = 2e6;
constexpr double kQuickWarmUpNs = 10e6;
constexpr std::size_t kQuickSamples = 10;

constexpr std::array kOperations{StraightOperation::kAdd, StraightOperation::kFma};

/// One kernel, timed with one wave and with all.
struct Job {
  std::size_t test = 0;  ///< of kOperations
  std::uint32_t operations = 0;
  std::uint32_t chains = 1;
  unsigned rank = 0;
  BenchPoint one_wave;
  BenchPoint all;
};

std::string_view test_name(StraightOperation operation) {
  return operation == StraightOperation::kAdd ? "icache.4B" : "icache.8B";
}

/// Between these lie the caches that are known: sizes lie denser there.
constexpr std::uint32_t kDenseFrom = 16 * 1024;
constexpr std::uint32_t kDenseTo = 64 * 1024;
constexpr unsigned kRankOfDenser = 20;
constexpr unsigned kRankOfChains = 40;

/// Of one chain: those of caches of 32 and 64 KiB first, then octaves, then the sizes in between;
/// four chains come last. The longer the later: what is known of short ones tells whether there is
/// time.
std::vector<Job> plan(const vulkan::DeviceFacts& facts, bool quick) {
  std::uint32_t largest = quick ? kLargestQuick : kLargest;
  if (facts.is_cpu) {
    largest = quick ? kLargestQuickOfCpu : kLargestOfCpu;
  }
  std::vector<Job> jobs;
  for (std::size_t test = 0; test < kOperations.size(); ++test) {
    const auto bytes = static_cast<std::uint32_t>(assumed_bytes(kOperations.at(test)));
    unsigned power = 0;
    for (std::uint32_t size = kSmallest; size <= largest; size *= 2, ++power) {
      const std::uint32_t code = size * bytes;
      const bool is_skeleton = power == 2 || code == kDenseTo;
      const auto add = [&](std::uint32_t operations, std::uint32_t chains, unsigned rank) {
        jobs.push_back({.test = test,
                        .operations = operations,
                        .chains = chains,
                        .rank = rank,
                        .one_wave = {},
                        .all = {}});
      };
      add(size, 1, is_skeleton ? 0 : power + 1);
      add(size, kManyChains, kRankOfChains + power);
      const bool is_dense = code >= kDenseFrom && code < kDenseTo;
      if ((is_dense || (!quick && power > 1)) && 2 * size <= largest) {
        add(size + size / 4, 1, kRankOfDenser + power);
        add(size + size / 2, 1, kRankOfDenser + power);
      }
    }
  }
  return jobs;
}

class Icache {
 public:
  explicit Icache(TestContext& context)
      : context_(context),
        facts_(context.runner.facts()),
        clock_(context.options.clock != nullptr ? *context.options.clock : monotonic_),
        jobs_(plan(facts_, context.quick)) {
    for (const StraightOperation operation : kOperations) {
      TestResult& test = tests_.emplace_back();
      test.id = test_name(operation);
      test.unit = "Gop/s";
      test.axis = "code";
      test.axis_unit = "B";
    }
  }

  std::vector<TestResult> run() {
    std::vector<unsigned> ranks;
    std::ranges::transform(jobs_, std::back_inserter(ranks), &Job::rank);
    const PointLoop loop = for_each_point(
        context_.options, ranks, [&](std::size_t index, const MeasurementOptions& options) {
          return measure_job(jobs_[index], options);
        });
    for (std::size_t i = 0; i < tests_.size(); ++i) {
      finish(i, loop);
    }
    return std::move(tests_);
  }

 private:
  /// Seconds that are left, where there is an end.
  [[nodiscard]] std::optional<double> seconds_left() const {
    const auto& end_ns = context_.options.share_end_ns;
    return end_ns ? std::optional(static_cast<double>(*end_ns - clock_.now_ns()) * 1e-9)
                  : std::nullopt;
  }

  [[nodiscard]] bool takes_too_long(const Job& job) const {
    const auto left_s = seconds_left();
    if (job.rank == 0 || !left_s || compiled_ == 0) {
      return false;
    }
    const double growth = static_cast<double>(job.operations) / compiled_;
    return compile_s_ * (growth > 1 ? growth * std::min(growth, kCompileGrowth) : growth) > *left_s;
  }

  [[nodiscard]] MeasurementOptions brief(MeasurementOptions options) const {
    options.run_ns = std::min(options.run_ns, context_.quick ? kQuickRunNs : kRunNs);
    options.warm_up_ns = std::min(options.warm_up_ns, context_.quick ? kQuickWarmUpNs : kWarmUpNs);
    if (context_.quick) {
      options.samples = std::min(options.samples, kQuickSamples);
    }
    return options;
  }

  std::optional<Error> measure_job(Job& job, const MeasurementOptions& options) {
    if (takes_too_long(job)) {
      ++too_long_.at(job.test);
      return std::nullopt;
    }
    const KernelCase kernel =
        straight_case(facts_, kOperations.at(job.test), job.operations, job.chains);
    const std::int64_t begin_ns = clock_.now_ns();
    // Two trips, so that the second begins where the first ended.
    const auto proven =
        prepare_and_prove(context_.runner, kernel, {.groups = 1, .trips = 2, .repeats = 1});
    if (!proven) {
      enter_error(proven.error(), job.one_wave);
      return proven.error();
    }
    const double took_s = static_cast<double>(clock_.now_ns() - begin_ns) * 1e-9;
    if (job.operations >= compiled_) {
      compiled_ = job.operations;
      compile_s_ = took_s;
    }
    const std::uint32_t all =
        std::min(facts_.is_cpu ? kAllCpuGroups : kAllGroups, std::max(facts_.max_groups_x, 1U));
    if (auto error = measure_launch(*proven, 1, "one", job, job.one_wave, options)) {
      return error;
    }
    return measure_launch(*proven, all, "all", job, job.all, options);
  }

  std::optional<Error> measure_launch(const ProvenKernel& proven, std::uint32_t groups,
                                      std::string_view name, const Job& job, BenchPoint& point,
                                      const MeasurementOptions& options) {
    enter_proofs(proven, point, tests_[job.test]);
    const KernelCase& kernel = proven.kernel->kernel();
    point.x = point.code_bytes.value_or(job.operations * assumed_bytes(kOperations.at(job.test)));
    is_assumed_.at(job.test) = is_assumed_.at(job.test) || !point.code_bytes;
    point.label = fmt::format("{}.{}", kernel.id, name);
    if (point.status == TestStatus::kFailed) {
      return std::nullopt;
    }
    const PlannedPoint planned{.kernel = proven.kernel.get(),
                               .launch = {.groups = groups},
                               .scale_trips = true,
                               .label = point.label};
    const MeasuredPoint measured =
        measure({&planned, 1}, brief(options), context_.observer).front();
    if (measured.error) {
      enter_error(*measured.error, point);
      return measured.error;
    }
    if (const auto& timing = measured.timing) {
      const double operations = threads_of(kernel, measured.launch) * measured.launch.trips *
                                job.operations * measured.launch.repeats;
      enter_timing(*timing, point);
      point.median = operations / timing->median_ns;
      point.p5 = operations / timing->p95_ns;
      point.p95 = operations / timing->p5_ns;
    }
    return std::nullopt;
  }

  void finish(std::size_t number, const PointLoop& loop) {
    TestResult& test = tests_[number];
    std::size_t points = 0;
    std::size_t left_out = 0;
    for (const std::uint32_t chains : {1U, kManyChains}) {
      const std::string suffix = chains == 1 ? "" : fmt::format(", {} chains", chains);
      BenchSeries one{.name = "1 wave" + suffix, .points = {}};
      BenchSeries all{.name = "all" + suffix, .points = {}};
      for (const Job& job : jobs_) {
        if (job.test != number || job.chains != chains) {
          continue;
        }
        ++points;
        const bool is_out = !job.one_wave.median && job.one_wave.status == TestStatus::kOk;
        left_out += is_out ? 1 : 0;
        one.points.push_back(job.one_wave);
        all.points.push_back(job.all);
      }
      for (BenchSeries* const series : {&one, &all}) {
        std::ranges::sort(series->points, {}, &BenchPoint::x);
        test.series.push_back(std::move(*series));
      }
    }
    finish_test(test, {.lost = loop.lost, .left_out = 0, .points = points});
    if (loop.left_out > 0 || too_long_.at(number) > 0) {
      say_left_out(test, left_out, points);
    }
    if (is_assumed_.at(number)) {
      test.derived.push_back(
          {.what = "bytes of an instruction",
           .value = assumed_bytes(kOperations.at(number)),
           .lower = std::nullopt,
           .upper = std::nullopt,
           .unit = "B",
           .confidence = "a guess",
           .by = "assumed as on GCN and RDNA: the driver does not tell the size of its code"});
    }
  }

  TestContext& context_;
  const vulkan::DeviceFacts& facts_;
  MonotonicClock monotonic_;
  Clock& clock_;
  std::vector<Job> jobs_;
  std::vector<TestResult> tests_;
  std::uint32_t compiled_ = 0;  ///< operations of the longest kernel so far
  double compile_s_ = 0;        ///< that it took, with its proof
  std::array<std::size_t, kOperations.size()> too_long_{};
  std::array<bool, kOperations.size()> is_assumed_{};
};

}  // namespace

std::vector<TestResult> run_icache(TestContext& context) {
  return Icache(context).run();
}

/// One of them is beyond 128 KiB, where loops close through a register.
std::vector<KernelCase> icache_cases(const vulkan::DeviceFacts& facts) {
  constexpr std::uint32_t kUsual = 4096;
  constexpr std::uint32_t kBeyondBranches = 40 * 1024;
  std::vector<KernelCase> cases;
  for (const StraightOperation operation : kOperations) {
    for (const std::uint32_t chains : {1U, kManyChains}) {
      cases.push_back(straight_case(facts, operation, kUsual, chains));
    }
  }
  cases.push_back(straight_case(facts, StraightOperation::kAdd, kBeyondBranches, 1));
  return cases;
}

}  // namespace gputrace::bench
