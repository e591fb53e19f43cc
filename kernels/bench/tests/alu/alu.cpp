#include "kernels/bench/tests/alu/alu.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <optional>
#include <utility>

#include "kernels/bench/cases/additions.h"
#include "kernels/bench/proven_kernel.h"
#include "kernels/bench/rate_check.h"
#include "kernels/bench/tests/alu/alu_findings.h"
#include "kernels/bench/tests/point_loop.h"

namespace gputrace::bench {
namespace {

using analysis::BenchPoint;
using analysis::BenchSeries;
using analysis::Proof;
using analysis::TestResult;
using analysis::TestStatus;

/// Enough for a lost trip to show, few enough for errors of functions to stay small.
constexpr Launch kProofLaunch{.groups = 3, .trips = 3, .repeats = 1};
/// Threads do nothing but arithmetic: short runs are as good as long ones.
constexpr double kQuickRunNs = 2e6;
constexpr double kQuickWarmUpNs = 20e6;
constexpr int kSecondLooks = 2;
/// A processor has up to twice as many vector units for integers as for floats.
constexpr double kIntegersOfProcessors = 2;
/// GPUs add 64 bits in two instructions and multiply them in three, and so kernels count them; a
/// processor has one for each (AVX2's vpaddq, AVX-512's vpmullq).
constexpr double kAdditionsOfInt64 = 2;
constexpr double kProductsOfInt64 = 3;

bool is_basic(const AluShape& shape) {
  switch (shape.operation) {
    case AluOperation::kAdd:
    case AluOperation::kMul:
    case AluOperation::kFma:
      return true;
    case AluOperation::kMad:
      // Of the other floats fma() is the multiply-add.
      return shape.type == AluType::kFp32 || !is_float(shape.type);
    case AluOperation::kPreciseMad:
      return shape.type == AluType::kFp32;
    default:
      return false;
  }
}

/// Products that are as fast as additions or multiply-adds of their type.
bool can_wait(const AluShape& shape) {
  return shape.operation == AluOperation::kMul && is_float(shape.type) &&
         shape.type != AluType::kFp32;
}

struct Job {
  AluShape shape;
  AluRate rate;
  unsigned rank = 0;
  bool visited = false;
  KernelCase kernel;
  Launch launch;
  double run_ns = 0;
};

std::vector<Job> plan(const vulkan::DeviceFacts& facts) {
  std::vector<std::optional<std::uint32_t>> sizes(facts.subgroup_sizes.begin(),
                                                  facts.subgroup_sizes.end());
  if (sizes.empty()) {
    sizes.emplace_back(std::nullopt);
  }
  std::vector<Job> jobs;
  for (const AluType type : alu_types()) {
    if (!missing_for(facts, type).empty()) {
      continue;
    }
    for (const auto& size : sizes) {
      const std::uint32_t lanes = size.value_or(facts.subgroup_size);
      for (const AluOperation operation : operations_of(type)) {
        Job job{.shape = {type, operation, size}, .rate = {}, .kernel = {}, .launch = {}};
        job.rate.shape = job.shape;
        job.rate.lanes = lanes;
        job.rate.point.x = lanes;
        const bool is_own = lanes == facts.subgroup_size || sizes.size() == 1;
        // A software rasteriser compiles for a processor, which takes longer than to measure.
        const bool is_first = is_basic(job.shape) && !(facts.is_cpu && can_wait(job.shape));
        job.rank = (is_first ? 0U : 1U) + (is_own ? 0U : 2U);
        jobs.push_back(std::move(job));
      }
    }
  }
  return jobs;
}

class Alu {
 public:
  explicit Alu(TestContext& context)
      : context_(context), facts_(context.runner.facts()), jobs_(plan(facts_)) {
    for (const AluType type : alu_types()) {
      TestResult& test = tests_.emplace_back();
      test.id = fmt::format("alu.{}", name_of(type));
      test.unit = "Gop/s";
      test.axis = "subgroup size";
    }
  }

  std::vector<TestResult> run() {
    std::vector<unsigned> ranks;
    ranks.reserve(jobs_.size());
    std::ranges::transform(jobs_, std::back_inserter(ranks), &Job::rank);
    const PointLoop loop = for_each_point(
        context_.options, ranks, [&](std::size_t index, const MeasurementOptions& options) {
          return measure_job(jobs_[index], options);
        });
    if (!context_.runner.simulated()) {
      check_rates(loop.lost.has_value());
    }
    for (std::size_t i = 0; i < tests_.size(); ++i) {
      finish(alu_types()[i], tests_[i], loop);
    }
    return std::move(tests_);
  }

 private:
  TestResult& test_of(AluType type) { return tests_[static_cast<std::size_t>(type)]; }

  [[nodiscard]] MeasurementOptions brief(MeasurementOptions options) const {
    if (context_.quick) {
      options.run_ns = std::min(options.run_ns, kQuickRunNs);
      options.warm_up_ns = std::min(options.warm_up_ns, kQuickWarmUpNs);
    }
    return options;
  }

  std::optional<Error> measure_job(Job& job, const MeasurementOptions& options) {
    job.visited = true;
    BenchPoint& point = job.rate.point;
    const AluCase made = alu_case(facts_, job.shape);
    job.kernel = made.sized.kernel;
    const auto proven = prepare_and_prove(context_.runner, job.kernel, kProofLaunch);
    if (!proven) {
      enter_error(proven.error(), point);
      return proven.error();
    }
    enter_proofs(*proven, point, test_of(job.shape.type));
    point.label = job.kernel.id;
    job.rate.rounding = *made.rounding;
    if (const auto& instructions = proven->isa.loop_instructions) {
      job.rate.instructions = *instructions / alu_operations_per_trip(job.shape);
    }
    if (point.status == TestStatus::kFailed) {
      return std::nullopt;
    }
    const PlannedPoint planned{.kernel = proven->kernel.get(),
                               .launch = made.sized.launch,
                               .scale_trips = made.sized.scale_trips,
                               .label = job.kernel.id};
    const MeasuredPoint measured =
        measure({&planned, 1}, brief(options), context_.observer).front();
    if (measured.error) {
      enter_error(*measured.error, point);
      return measured.error;
    }
    if (const auto& timing = measured.timing) {
      const double operations = alu_operations_per_trip(job.shape) * measured.launch.trips *
                                threads_of(job.kernel, measured.launch) * measured.launch.repeats;
      enter_timing(*timing, point);
      point.median = operations / timing->median_ns;
      point.p5 = operations / timing->p95_ns;
      point.p95 = operations / timing->p5_ns;
      job.launch = measured.launch;
      job.run_ns = timing->median_ns;
      if (job.shape.type == AluType::kFp32 && is_basic(job.shape)) {
        note_reference(job.kernel, measured);
      }
    }
    return std::nullopt;
  }

  void note_reference(const KernelCase& kernel, const MeasuredPoint& measured) {
    if (!measured.timing) {
      return;
    }
    if (const auto rate =
            lane_operations_per_ns(kernel, measured.launch, measured.timing->median_ns)) {
      reference_per_ns_ = std::max(reference_per_ns_.value_or(0), *rate);
    }
  }

  [[nodiscard]] RateCheck rate_of(const Job& job) const {
    std::optional<double> reference = reference_per_ns_;
    if (reference && facts_.is_cpu && !is_float(job.shape.type)) {
      *reference *= kIntegersOfProcessors;
      if (job.shape.type == AluType::kInt64) {
        const bool adds = job.shape.operation == AluOperation::kAdd;
        *reference *= adds ? kAdditionsOfInt64 : kProductsOfInt64;
      }
    }
    return check_rate(job.kernel, job.launch, job.run_ns, reference);
  }

  [[nodiscard]] bool is_too_fast() const {
    return std::ranges::any_of(jobs_, [&](const Job& job) {
      return job.run_ns > 0 && rate_of(job).proof == Proof::kFailed;
    });
  }

  /// Where other programs took the processor away the additions may seem slow: they are measured
  /// again before anything is called too fast.
  void check_rates(bool is_lost) {
    for (int look = 0; look < kSecondLooks && !is_lost && is_too_fast(); ++look) {
      if (context_.options.cancelled && context_.options.cancelled()) {
        break;
      }
      const SizedCase additions = additions_case(facts_);
      const auto prepared = context_.runner.prepare(additions.kernel);
      if (!prepared) {
        break;
      }
      const PlannedPoint planned{.kernel = prepared->get(),
                                 .launch = additions.launch,
                                 .scale_trips = true,
                                 .label = additions.kernel.id};
      MeasurementOptions options = brief(context_.options);
      options.progress = nullptr;
      note_reference(additions.kernel, measure({&planned, 1}, options, nullptr).front());
    }
    for (Job& job : jobs_) {
      if (!(job.run_ns > 0)) {
        continue;
      }
      const RateCheck rate = rate_of(job);
      TestResult& test = test_of(job.shape.type);
      test.rate = combine(test.rate, rate.proof);
      BenchPoint& point = job.rate.point;
      if (rate.proof == Proof::kFailed && point.status == TestStatus::kOk) {
        point.status = TestStatus::kSuspect;
        point.why = rate.why;
      }
    }
  }

  void finish(AluType type, TestResult& test, const PointLoop& loop) {
    if (const std::string_view missing = missing_for(facts_, type); !missing.empty()) {
      test.status = TestStatus::kSkipped;
      test.why = fmt::format("the device has no {}", missing);
      return;
    }
    std::vector<AluRate> rates;
    std::size_t points = 0;
    std::size_t left_out = 0;
    for (const Job& job : jobs_) {
      if (job.shape.type != type) {
        continue;
      }
      ++points;
      left_out += job.visited ? 0 : 1;
      rates.push_back(job.rate);
    }
    for (const AluOperation operation : operations_of(type)) {
      BenchSeries series{.name = std::string(name_of(type, operation)), .points = {}};
      for (const AluRate& rate : rates) {
        if (rate.shape.operation == operation) {
          series.points.push_back(rate.point);
        }
      }
      test.series.push_back(std::move(series));
    }
    test.derived = alu_findings(type, facts_.subgroup_size, rates);
    // A type that was through before the device was lost is whole.
    const bool is_cut = left_out > 0 || std::ranges::any_of(rates, [](const AluRate& rate) {
                          return rate.point.status == TestStatus::kFailed;
                        });
    finish_test(test, {.lost = is_cut ? loop.lost : std::nullopt, .left_out = 0, .points = points});
    if (loop.left_out > 0) {
      say_left_out(test, left_out, points);
    }
  }

  TestContext& context_;
  const vulkan::DeviceFacts& facts_;
  std::vector<Job> jobs_;
  std::vector<TestResult> tests_;
  /// Instructions of a lane, of the fastest fp32 additions, products or FMAs.
  std::optional<double> reference_per_ns_;
};

}  // namespace

std::vector<TestResult> run_alu(TestContext& context) {
  return Alu(context).run();
}

std::vector<KernelCase> alu_cases(const vulkan::DeviceFacts& facts) {
  std::vector<KernelCase> cases;
  for (const Job& job : plan(facts)) {
    cases.push_back(alu_case(facts, job.shape).sized.kernel);
  }
  return cases;
}

}  // namespace gputrace::bench
