#include "kernels/bench/tests/occupancy.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <memory>
#include <utility>

#include "kernels/bench/proven_kernel.h"
#include "kernels/bench/tests/occupancy_cases.h"
#include "kernels/bench/tests/occupancy_steps.h"
#include "kernels/bench/tests/point_loop.h"

namespace gputrace::bench {

namespace {

using analysis::BenchPoint;
using analysis::Proof;
using analysis::TestResult;
using analysis::TestStatus;

constexpr Launch kProofLaunch{.groups = 4, .trips = 7, .repeats = 1};
/// A group must still dwell when the last one of those that fit has been launched.
constexpr double kDwellNs = 300e3;
constexpr std::uint32_t kFirstCensus = 32;
constexpr std::uint32_t kCensusGrowth = 4;
constexpr std::size_t kCensusRuns = 5;
constexpr std::size_t kTimedRuns = 5;
/// Of the most groups to time, where no census says how many fit.
constexpr std::uint32_t kMostGroups = 16384;
constexpr std::uint32_t kUsualGroup = 64;

/// A sweep: one of the three things that a group takes.
struct Sweep {
  std::string_view id;
  std::string_view axis;
  std::string_view axis_unit;
  std::vector<OccupancyShape> shapes;
  double (*x)(const OccupancyShape& shape);
};

template <std::size_t kAll>
std::vector<std::uint32_t> values(const std::array<std::uint32_t, kAll>& all, bool quick,
                                  std::uint32_t most) {
  std::vector<std::uint32_t> chosen;
  for (std::size_t i = 0; i < kAll; i += quick ? 2 : 1) {
    if (all.at(i) <= most) {
      chosen.push_back(all.at(i));
    }
  }
  return chosen;
}

/// The first shape of a sweep is the one that a quick run times as well.
std::vector<Sweep> sweeps(const vulkan::DeviceFacts& facts, bool quick) {
  Sweep registers{.id = "occupancy.registers",
                  .axis = "words in registers",
                  .axis_unit = "words a thread",
                  .shapes = {},
                  .x = [](const OccupancyShape& shape) { return double{1} * shape.kept_words; }};
  constexpr std::array<std::uint32_t, 7> kKept{0, 16, 32, 48, 64, 96, 112};
  for (const std::uint32_t words : values(kKept, quick, kMaxKeptWords)) {
    registers.shapes.push_back({.group_threads = kUsualGroup, .kept_words = words});
  }
  Sweep sizes{.id = "occupancy.group_size",
              .axis = "threads",
              .axis_unit = "",
              .shapes = {},
              .x = [](const OccupancyShape& shape) { return double{1} * shape.group_threads; }};
  constexpr std::array<std::uint32_t, 5> kThreads{64, 128, 256, 512, 1024};
  for (const std::uint32_t threads : values(kThreads, quick, facts.max_group_threads)) {
    sizes.shapes.push_back({.group_threads = threads});
  }
  Sweep shared{.id = "occupancy.shared",
               .axis = "local memory",
               .axis_unit = "B",
               .shapes = {},
               .x = [](const OccupancyShape& shape) { return double{1} * shape.shared_bytes; }};
  constexpr std::array<std::uint32_t, 7> kShared{4096, 8192, 16384, 24576, 32768, 49152, 65536};
  for (const std::uint32_t bytes : values(kShared, quick, facts.max_shared_bytes)) {
    shared.shapes.push_back({.group_threads = kUsualGroup, .shared_bytes = bytes});
  }
  return {std::move(registers), std::move(sizes), std::move(shared)};
}

struct Job {
  OccupancyShape shape;
  bool timed = false;
  BenchPoint census;
  BenchPoint steps;
};

bool is_cancelled(const MeasurementOptions& options) {
  return options.cancelled && options.cancelled();
}

Result<double> time_once(PreparedKernel& kernel, const Launch& launch) {
  const auto time = kernel.run(launch);
  if (!time) {
    return tl::unexpected(time.error());
  }
  return time->gpu_ns.value_or(time->wall_ns);
}

/// Trips with which one group alone dwells long enough, without its launch.
Result<std::uint32_t> find_dwell(PreparedKernel& kernel) {
  double launch_ns = 0;
  for (std::uint32_t trips = 1;; trips = std::min(trips * 2, kMaxTrips)) {
    const auto ns = time_once(kernel, {.groups = 1, .trips = trips, .repeats = 1});
    if (!ns) {
      return tl::unexpected(ns.error());
    }
    if (trips == 1) {
      // Drivers finish their compilation at the first dispatch: the second is the launch.
      const auto again = time_once(kernel, {.groups = 1, .trips = trips, .repeats = 1});
      launch_ns = again ? *again : *ns;
    }
    if (*ns - launch_ns >= kDwellNs) {
      return trips;
    }
    if (trips == kMaxTrips) {
      return fail(ErrorCode::kUnsupported,
                  fmt::format("{}: {} trips take {:.0f} us: too short for a census",
                              kernel.kernel().id, trips, (*ns - launch_ns) * 1e-3));
    }
  }
}

/// Launches more and more groups until some have to wait, then counts a few times.
Status take_census(PreparedKernel& kernel, std::uint32_t trips, std::uint32_t most,
                   const CensusReading& reading, const MeasurementOptions& options,
                   BenchPoint& point) {
  std::uint32_t groups = std::min(kFirstCensus, most);
  std::vector<double> peaks;
  while (peaks.size() < kCensusRuns && !is_cancelled(options)) {
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
Status measure_shape(TestContext& context, const MeasurementOptions& options, Job& job,
                     TestResult& test) {
  const auto reading = std::make_shared<CensusReading>();
  const auto cycle = std::make_shared<RandomCycle>(kDwellNodes, options.seed);
  const auto proven =
      prepare_and_prove(context.runner, occupancy_case(job.shape, cycle, reading), kProofLaunch);
  if (!proven) {
    return tl::unexpected(proven.error());
  }
  enter_proofs(*proven, job.census, test);
  enter_proofs(*proven, job.steps, test);
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

std::optional<Error> measure_job(TestContext& context, const MeasurementOptions& options, Job& job,
                                 TestResult& test) {
  if (const Status measured = measure_shape(context, options, job, test); !measured) {
    enter_error(measured.error(), job.census);
    enter_error(measured.error(), job.steps);
    return measured.error();
  }
  return std::nullopt;
}

void derive_threads(const std::vector<Job>& jobs, TestResult& test) {
  double most = 0;
  for (const Job& job : jobs) {
    const auto& groups = job.census.median ? job.census.median : job.steps.median;
    most = std::max(most, groups.value_or(0) * job.shape.group_threads);
  }
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

TestResult run_sweep(TestContext& context, const Sweep& sweep, std::optional<Error>& lost) {
  TestResult test;
  test.id = sweep.id;
  test.unit = "groups in flight";
  test.axis = sweep.axis;
  test.axis_unit = sweep.axis_unit;
  std::vector<Job> jobs;
  for (const OccupancyShape& shape : sweep.shapes) {
    Job job{.shape = shape,
            .timed = !context.quick || jobs.empty() || context.runner.simulated(),
            .census = {},
            .steps = {}};
    job.census.x = job.steps.x = sweep.x(shape);
    jobs.push_back(std::move(job));
  }
  lost = for_each_point(context.options, jobs.size(),
                        [&](std::size_t index, const MeasurementOptions& options) {
                          return measure_job(context, options, jobs[index], test);
                        });
  analysis::BenchSeries census{.name = "census", .points = {}};
  analysis::BenchSeries steps{.name = "steps", .points = {}};
  for (const Job& job : jobs) {
    census.points.push_back(job.census);
    steps.points.push_back(job.steps);
    const bool suspect = job.census.status == TestStatus::kSuspect;
    if (job.census.median && job.steps.median) {
      test.rate = combine(test.rate, suspect ? Proof::kFailed : Proof::kPassed);
    }
  }
  test.series = {std::move(census), std::move(steps)};
  derive_threads(jobs, test);
  finish_test(test, lost);
  return test;
}

}  // namespace

std::vector<TestResult> run_occupancy(TestContext& context) {
  std::vector<TestResult> results;
  std::optional<Error> lost;
  for (const Sweep& sweep : sweeps(context.runner.facts(), context.quick)) {
    if (lost || is_cancelled(context.options)) {
      break;
    }
    results.push_back(run_sweep(context, sweep, lost));
  }
  return results;
}

std::vector<KernelCase> occupancy_cases(const vulkan::DeviceFacts& facts) {
  std::vector<KernelCase> cases;
  const auto cycle = std::make_shared<RandomCycle>(kDwellNodes, 1);
  for (const Sweep& sweep : sweeps(facts, false)) {
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
