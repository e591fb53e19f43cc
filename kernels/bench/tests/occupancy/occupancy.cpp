#include "kernels/bench/tests/occupancy/occupancy.h"

#include <fmt/format.h>

#include <algorithm>
#include <memory>
#include <utility>

#include "kernels/bench/proven_kernel.h"
#include "kernels/bench/tests/census.h"
#include "kernels/bench/tests/occupancy/occupancy_cases.h"
#include "kernels/bench/tests/occupancy/occupancy_steps.h"
#include "kernels/bench/tests/point_loop.h"

namespace gputrace::bench {

namespace {

using analysis::BenchPoint;
using analysis::Proof;
using analysis::TestResult;
using analysis::TestStatus;

constexpr Launch kProofLaunch{.groups = 4, .trips = 7, .repeats = 1};
constexpr std::size_t kTimedRuns = 5;
/// Of the most groups to time, where no census says how many fit.
constexpr std::uint32_t kMostGroups = 16384;
constexpr std::uint32_t kUsualGroup = 64;

/// One group in one shape, counted and timed; two sweeps may begin with the same.
struct Job {
  OccupancyShape shape;
  bool timed = false;
  unsigned rank = 0;
  BenchPoint census;
  BenchPoint steps;
  TestResult proofs;  ///< nothing but its proofs and counts
};

/// One of the three things that a group takes.
struct Sweep {
  std::string_view id;
  std::string_view axis;
  std::string_view axis_unit;
  std::vector<OccupancyShape> shapes;
  double (*x)(const OccupancyShape& shape);
};

std::vector<Sweep> sweeps(const vulkan::DeviceFacts& facts) {
  Sweep registers{.id = "occupancy.registers",
                  .axis = "words in registers",
                  .axis_unit = "words a thread",
                  .shapes = {},
                  .x = [](const OccupancyShape& shape) { return double{1} * shape.kept_words; }};
  constexpr std::uint32_t kStep = 16;
  // RADV spills a thread's registers to memory at 128 words and the few that the kernel has itself.
  constexpr std::uint32_t kMostWords = 112;
  for (std::uint32_t words = 0; words <= kMostWords; words += kStep) {
    registers.shapes.push_back({.group_threads = kUsualGroup, .kept_words = words});
  }
  Sweep sizes{.id = "occupancy.group_size",
              .axis = "threads",
              .axis_unit = "",
              .shapes = {},
              .x = [](const OccupancyShape& shape) { return double{1} * shape.group_threads; }};
  for (const std::uint32_t threads : {64U, 128U, 192U, 256U, 384U, 512U, 768U, 1024U}) {
    if (threads <= facts.max_group_threads) {
      sizes.shapes.push_back({.group_threads = threads});
    }
  }
  Sweep shared{.id = "occupancy.shared",
               .axis = "local memory",
               .axis_unit = "B",
               .shapes = {},
               .x = [](const OccupancyShape& shape) { return double{1} * shape.shared_bytes; }};
  for (const std::uint32_t bytes : {4096U, 8192U, 16384U, 24576U, 32768U, 49152U, 65536U}) {
    if (bytes <= facts.max_shared_bytes) {
      shared.shapes.push_back({.group_threads = kUsualGroup, .shared_bytes = bytes});
    }
  }
  return {std::move(registers), std::move(sizes), std::move(shared)};
}

/// The shape that takes least and the far end of each sweep come first, then every second shape,
/// then the rest.
unsigned rank_of(const OccupancyShape& shape, std::size_t place, std::size_t shapes) {
  const bool takes_least =
      shape.group_threads == kUsualGroup && shape.kept_words == 0 && shape.shared_bytes == 0;
  if (takes_least || place + 1 == shapes) {
    return 0;
  }
  return place % 2 == 0 ? 1 : 2;
}

bool is_cancelled(const MeasurementOptions& options) {
  return options.cancelled && options.cancelled();
}

Status take_steps(PreparedKernel& kernel, std::uint32_t trips, std::uint32_t most,
                  const MeasurementOptions& options, BenchPoint& point) {
  const DispatchTime dispatch = [&](std::uint32_t groups) -> Result<double> {
    std::vector<double> ns;
    while (ns.size() < kTimedRuns && !is_cancelled(options)) {
      const auto once = time_once(kernel, {.groups = groups, .trips = trips, .repeats = 1});
      if (!once) {
        return once;
      }
      ns.push_back(*once);
    }
    return quantile(std::move(ns), 0.5);
  };
  const auto steps = find_steps(dispatch, most);
  if (!steps) {
    return tl::unexpected(steps.error());
  }
  const std::optional<Steps>& found = *steps;
  if (!found.has_value() || is_cancelled(options)) {
    return {};
  }
  point.median = found->slots;
  point.p5 = found->slots;
  point.p95 = found->above - 1;
  point.samples = kTimedRuns;
  return {};
}

void compare(Job& job, std::uint32_t most) {
  const auto counted = static_cast<std::uint32_t>(job.census.median.value_or(0));
  if (counted < kFewestSlotsForSteps) {
    return;
  }
  std::string why;
  if (!job.steps.p5 || !job.steps.p95) {
    why =
        fmt::format("{} groups counted themselves in, but up to {} the times show no second round",
                    counted, most);
  } else if (const Steps steps{.slots = static_cast<std::uint32_t>(*job.steps.p5),
                               .above = static_cast<std::uint32_t>(*job.steps.p95) + 1};
             !agree(counted, steps)) {
    why = fmt::format("{} groups counted themselves in, but by the times {} fit and {} do not",
                      counted, steps.slots, steps.above);
  }
  if (!why.empty()) {
    job.census.status = job.steps.status = TestStatus::kSuspect;
    job.census.why = job.steps.why = why;
  }
}

void skip(BenchPoint& point, std::string why) {
  point.status = TestStatus::kSkipped;
  point.why = std::move(why);
}

/// Sizes change from run to run here, so no mark says what a GPU was given at which time.
Status measure_shape(TestContext& context, const MeasurementOptions& options,
                     const std::shared_ptr<const RandomCycle>& cycle, Job& job) {
  const auto reading = std::make_shared<CensusReading>();
  const auto proven =
      prepare_and_prove(context.runner, occupancy_case(job.shape, cycle, reading), kProofLaunch);
  if (!proven) {
    return tl::unexpected(proven.error());
  }
  enter_proofs(*proven, job.census, job.proofs);
  enter_proofs(*proven, job.steps, job.proofs);
  if (job.census.status == TestStatus::kFailed) {
    return {};
  }
  PreparedKernel& kernel = *proven->kernel;
  const auto trips = find_dwell(kernel);
  if (!trips) {
    return tl::unexpected(trips.error());
  }
  const std::uint32_t limit = context.runner.facts().max_groups_x;
  std::uint32_t most = std::min(limit, kMostGroups);
  if (context.runner.simulated()) {
    skip(job.census, "a simulated GPU runs no code that could count");
  } else {
    if (const Status counted = take_census(kernel, *trips, limit, *reading, options, job.census);
        !counted) {
      return counted;
    }
    if (!job.census.median) {
      return {};  // cancelled
    }
    const auto peak = static_cast<std::uint32_t>(*job.census.median);
    most = std::min(limit, 4 * peak);
    if (peak < kFewestSlotsForSteps) {
      skip(job.steps,
           fmt::format("of fewer than {} groups in flight the times tell nothing: groups that slow "
                       "each other down look like a second round",
                       kFewestSlotsForSteps));
      job.timed = false;
    }
  }
  if (job.timed) {
    if (const Status timed = take_steps(kernel, *trips, most, options, job.steps); !timed) {
      return timed;
    }
    if (!is_cancelled(options) && !context.runner.simulated()) {
      compare(job, most);
    }
  }
  return {};
}

void derive_threads(double most, TestResult& test) {
  if (most > 0) {
    test.derived.push_back({.what = "threads in flight",
                            .value = most,
                            .lower = std::nullopt,
                            .upper = std::nullopt,
                            .unit = "",
                            .confidence = "",
                            .by = "the most of this sweep, groups times their size"});
  }
}

class OccupancyRun {
 public:
  explicit OccupancyRun(TestContext& context)
      : context_(context), sweeps_(sweeps(context.runner.facts())) {
    for (const Sweep& sweep : sweeps_) {
      std::vector<std::size_t>& places = places_.emplace_back();
      for (std::size_t i = 0; i < sweep.shapes.size(); ++i) {
        places.push_back(
            job_of(sweep.shapes[i], i == 0, rank_of(sweep.shapes[i], i, sweep.shapes.size())));
      }
    }
  }

  std::vector<TestResult> run() {
    std::vector<unsigned> ranks;
    ranks.reserve(jobs_.size());
    for (const Job& job : jobs_) {
      ranks.push_back(job.rank);
    }
    const PointLoop loop = for_each_point(
        context_.options, ranks,
        [&](std::size_t index, const MeasurementOptions& options) -> std::optional<Error> {
          Job& job = jobs_[index];
          if (const Status done = measure_shape(context_, options, cycle_, job); !done) {
            enter_error(done.error(), job.census);
            enter_error(done.error(), job.steps);
            return done.error();
          }
          return std::nullopt;
        });
    std::vector<TestResult> results;
    results.reserve(sweeps_.size());
    for (std::size_t i = 0; i < sweeps_.size(); ++i) {
      results.push_back(result_of(sweeps_[i], places_[i], loop));
    }
    return results;
  }

 private:
  /// The times of a shape take several times as long as its census: a quick run has few of them.
  std::size_t job_of(const OccupancyShape& shape, bool is_first, unsigned rank) {
    const auto known = std::find_if(jobs_.begin(), jobs_.end(), [&](const Job& job) {
      return job.shape.group_threads == shape.group_threads &&
             job.shape.kept_words == shape.kept_words &&
             job.shape.shared_bytes == shape.shared_bytes;
    });
    if (known != jobs_.end()) {
      known->rank = std::min(known->rank, rank);
      return static_cast<std::size_t>(known - jobs_.begin());
    }
    Job job{.shape = shape,
            .timed = !context_.quick || is_first || context_.runner.simulated(),
            .rank = rank,
            .census = {},
            .steps = {},
            .proofs = {}};
    jobs_.push_back(std::move(job));
    return jobs_.size() - 1;
  }

  [[nodiscard]] TestResult result_of(const Sweep& sweep, const std::vector<std::size_t>& places,
                                     const PointLoop& all) const {
    TestResult test;
    test.id = sweep.id;
    test.unit = "groups in flight";
    test.axis = sweep.axis;
    test.axis_unit = sweep.axis_unit;
    PointLoop loop{.lost = all.lost, .left_out = 0, .points = places.size()};
    analysis::BenchSeries census{.name = "census", .points = {}};
    analysis::BenchSeries steps{.name = "steps", .points = {}};
    double most_threads = 0;
    for (const std::size_t place : places) {
      const Job& job = jobs_[place];
      const double x = sweep.x(job.shape);
      census.points.push_back(job.census);
      steps.points.push_back(job.steps);
      census.points.back().x = steps.points.back().x = x;
      const bool is_done =
          job.census.median || job.steps.median || job.census.status != TestStatus::kOk;
      loop.left_out += all.left_out > 0 && !is_done ? 1 : 0;
      const auto& groups = job.census.median ? job.census.median : job.steps.median;
      most_threads = std::max(most_threads, groups.value_or(0) * job.shape.group_threads);
      add_proofs(job, test);
    }
    test.series = {std::move(census), std::move(steps)};
    derive_threads(most_threads, test);
    finish_test(test, loop);
    return test;
  }

  static void add_proofs(const Job& job, TestResult& test) {
    test.result = combine(test.result, job.proofs.result);
    test.isa = combine(test.isa, job.proofs.isa);
    test.counts.insert(test.counts.end(), job.proofs.counts.begin(), job.proofs.counts.end());
    if (job.census.median && job.steps.median) {
      const bool suspect = job.census.status == TestStatus::kSuspect;
      test.rate = combine(test.rate, suspect ? Proof::kFailed : Proof::kPassed);
    }
  }

  TestContext& context_;
  std::vector<Sweep> sweeps_;
  std::vector<Job> jobs_;
  std::vector<std::vector<std::size_t>> places_;  ///< of each sweep's shapes in jobs_
  std::shared_ptr<const RandomCycle> cycle_ = std::make_shared<RandomCycle>(kDwellNodes, 1);
};

}  // namespace

std::vector<TestResult> run_occupancy(TestContext& context) {
  return OccupancyRun(context).run();
}

std::vector<KernelCase> occupancy_cases(const vulkan::DeviceFacts& facts) {
  std::vector<KernelCase> cases;
  const auto cycle = std::make_shared<RandomCycle>(kDwellNodes, 1);
  for (const Sweep& sweep : sweeps(facts)) {
    for (const OccupancyShape& shape : sweep.shapes) {
      cases.push_back(occupancy_case(shape, cycle, nullptr));
    }
  }
  // Two sweeps begin with the same shape.
  std::sort(cases.begin(), cases.end(), [](const auto& a, const auto& b) { return a.id < b.id; });
  cases.erase(std::unique(cases.begin(), cases.end(),
                          [](const auto& a, const auto& b) { return a.id == b.id; }),
              cases.end());
  return cases;
}

}  // namespace gputrace::bench
