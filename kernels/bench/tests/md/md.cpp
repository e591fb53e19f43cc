#include "kernels/bench/tests/md/md.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <memory>
#include <utility>

#include "kernels/bench/proven_kernel.h"
#include "kernels/bench/rate_check.h"
#include "kernels/bench/tests/md/md_case.h"
#include "kernels/bench/tests/point_loop.h"
#include "kernels/bench/tests/workload_values.h"

namespace gputrace::bench {

namespace {

using analysis::BenchPoint;
using analysis::Proof;
using analysis::TestResult;
using analysis::TestStatus;

constexpr double kNsToS = 1e9;

/// Atoms to an edge of the cube, and when they are measured.
struct Size {
  bool lists = false;
  std::uint32_t side = 0;
  unsigned rank = 0;
};

std::vector<Size> sizes_of(const vulkan::DeviceFacts& facts, bool quick) {
  std::vector<Size> sizes;
  if (facts.is_cpu) {
    sizes = {{.lists = false, .side = 8, .rank = 0},
             {.lists = true, .side = 16, .rank = 0},
             {.lists = false, .side = 12, .rank = 1},
             {.lists = true, .side = 24, .rank = 1}};
  } else {
    sizes = {{.lists = false, .side = 16, .rank = 0},
             {.lists = true, .side = 48, .rank = 0},
             {.lists = false, .side = 12, .rank = 1}};
  }
  if (!quick) {
    sizes.insert(sizes.end(), {{.lists = false, .side = facts.is_cpu ? 16U : 8U, .rank = 2},
                               {.lists = false, .side = facts.is_cpu ? 20U : 24U, .rank = 3},
                               {.lists = true, .side = facts.is_cpu ? 48U : 24U, .rank = 2},
                               {.lists = true, .side = 64, .rank = 3}});
  }
  return sizes;
}

struct Job {
  Size size;
  BenchPoint point;
  std::uint64_t pairs = 0;
  SizedCase sized;
  std::optional<WorkloadTimes> times;
  std::shared_ptr<ForceError> error = std::make_shared<ForceError>();
  Proof result = Proof::kNotDone;
};

void make_case(Job& job) {
  const auto atoms = std::make_shared<const Atoms>(make_atoms(job.size.side));
  if (!job.size.lists) {
    job.pairs = std::uint64_t{atoms->count()} * atoms->count();
    job.sized = md_pairs_case(atoms, job.error);
    return;
  }
  const auto lists = std::make_shared<const NeighbourLists>(list_neighbours(*atoms));
  job.pairs = lists->pairs;
  job.sized = md_list_case(atoms, lists, job.error);
}

void enter(TestContext& context, const MeasuredPoint& measured, Job& job, TestResult& test) {
  if (!measured.timing) {
    return;  // cancelled
  }
  const Timing& timing = *measured.timing;
  const double repeats = measured.launch.repeats;
  job.times = {.median_ns = timing.median_ns / repeats,
               .fast_ns = timing.p5_ns / repeats,
               .slow_ns = timing.p95_ns / repeats};
  const double pairs = static_cast<double>(job.pairs) * kNsToS;
  job.point.median = pairs / job.times->median_ns;
  job.point.p5 = pairs / job.times->slow_ns;
  job.point.p95 = pairs / job.times->fast_ns;
  enter_timing(timing, job.point);
  const RateCheck rate = check_rate(job.sized.kernel, measured.launch, timing.p5_ns,
                                    ceilings_of(context).operations_per_ns);
  test.rate = combine(test.rate, rate.proof);
  if (rate.proof == Proof::kFailed) {
    job.point.status = TestStatus::kSuspect;
    job.point.why = rate.why;
  }
}

std::optional<Error> measure_job(TestContext& context, const MeasurementOptions& options, Job& job,
                                 TestResult& test) {
  make_case(job);
  const auto proven = prepare_and_prove(context.runner, job.sized.kernel, job.sized.launch);
  if (!proven) {
    enter_error(proven.error(), job.point);
    return proven.error();
  }
  enter_proofs(*proven, job.point, test);
  job.result = proven->result;
  if (job.point.status == TestStatus::kFailed) {
    return std::nullopt;
  }
  job.point.label = fmt::format("{}.{}", job.sized.kernel.id, job.point.x);
  const PlannedPoint planned{.kernel = proven->kernel.get(),
                             .launch = job.sized.launch,
                             .scale_trips = false,
                             .label = job.point.label};
  const MeasuredPoint measured = measure({&planned, 1}, options, context.observer).front();
  if (measured.error) {
    enter_error(*measured.error, job.point);
    return measured.error;
  }
  enter(context, measured, job, test);
  return std::nullopt;
}

/// Of the first size of each kind, which all runs have.
void derive(const Job& job, TestResult& test) {
  const KernelCase& kernel = job.sized.kernel;
  if (job.times && job.point.status == TestStatus::kOk) {
    const Launch once{.groups = job.sized.launch.groups, .trips = job.sized.launch.trips};
    const Stimulus stimulus = kernel.stimulus(once);
    double footprint = 0;
    for (const BufferNeed& need : kernel.buffers) {
      footprint += static_cast<double>(need.bytes);
    }
    derive_place({.name = kernel.id,
                  .flops = flops_of(kernel, once),
                  .memory_bytes = stimulus.dram_bytes.value_or(0) * stimulus.threads,
                  .footprint_bytes = footprint},
                 *job.times, test);
  }
  if (job.result == Proof::kPassed && job.error->rms > 0) {
    test.derived.push_back(
        {.what = fmt::format("digits of {}", kernel.id),
         .value = -std::log10(job.error->rms),
         .lower = std::nullopt,
         .upper = std::nullopt,
         .unit = "",
         .confidence = "",
         .by = fmt::format("forces on {} atoms against double: {:.1e} rms of the force",
                           job.error->compared, job.error->rms)});
  }
}

}  // namespace

std::vector<TestResult> run_md(TestContext& context) {
  TestResult test;
  test.id = "md";
  test.unit = "pairs/s";
  test.axis = "atoms";
  std::vector<Job> jobs;
  std::vector<unsigned> ranks;
  for (const Size& size : sizes_of(context.runner.facts(), context.quick)) {
    Job& job = jobs.emplace_back();
    job.size = size;
    job.point.x = std::pow(size.side, 3);
    ranks.push_back(size.rank);
  }
  const PointLoop loop = for_each_point(context.options, ranks,
                                        [&](std::size_t index, const MeasurementOptions& options) {
                                          return measure_job(context, options, jobs[index], test);
                                        });
  for (const bool lists : {false, true}) {
    analysis::BenchSeries& series = test.series.emplace_back(
        analysis::BenchSeries{lists ? "neighbour lists" : "all pairs", {}});
    bool is_first = true;
    for (const Job& job : jobs) {
      if (job.size.lists == lists) {
        series.points.push_back(job.point);
        if (std::exchange(is_first, false)) {
          derive(job, test);
        }
      }
    }
    std::ranges::stable_sort(series.points, {}, &BenchPoint::x);
  }
  finish_test(test, loop);
  return {std::move(test)};
}

std::vector<KernelCase> md_cases(const vulkan::DeviceFacts& /*facts*/) {
  constexpr std::uint32_t kSmall = 8;
  const auto atoms = std::make_shared<const Atoms>(make_atoms(kSmall));
  const auto lists = std::make_shared<const NeighbourLists>(list_neighbours(*atoms));
  return {md_pairs_case(atoms).kernel, md_list_case(atoms, lists).kernel};
}

}  // namespace gputrace::bench
