#include "kernels/bench/tests/latency.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <memory>
#include <utility>

#include "kernels/bench/proven_kernel.h"
#include "kernels/bench/tests/latency_cases.h"
#include "kernels/bench/tests/point_loop.h"

namespace gputrace::bench {

namespace {

using analysis::BenchPoint;
using analysis::BenchSeries;
using analysis::DerivedValue;
using analysis::Proof;
using analysis::TestResult;
using analysis::TestStatus;

constexpr std::uint64_t kSmallestSet = 4096;
constexpr std::uint64_t kKiB = 1024;
constexpr std::uint64_t kMiB = 1024 * kKiB;
/// Caches up to 96 MiB are known; host memory behind a software rasteriser is slow to fill.
constexpr std::uint64_t kLargestSet = 256 * kMiB;
constexpr std::uint64_t kLargestQuickSet = 64 * kMiB;
constexpr std::uint64_t kLargestCpuSet = 64 * kMiB;
constexpr std::uint64_t kLargestQuickCpuSet = 16 * kMiB;
/// The test may hold this part of the memory, and as much again while it is filled.
constexpr std::uint64_t kMemoryShare = 8;
/// Enough to leave the first lines; not a multiple of anything.
constexpr Launch kProofLaunch{.groups = 1, .trips = 37, .repeats = 2};
/// A walk of the whole cycle is cut into dispatches that no driver takes for a hang.
constexpr std::uint32_t kWarmTrips = 2000;
/// The launch is subtracted by a second run, of this part of the length.
constexpr double kShortRun = 0.25;
constexpr double kShortWarmUpNs = 50e6;
constexpr int kAttempts = 3;
/// No cache answers in less than 2 clocks at 4 GHz: less means that loads were left out.
constexpr double kLeastHopNs = 0.5;

constexpr std::array<ChaseShape, 5> kVectorShapes{
    {{.chains = 1}, {.chains = 2}, {.chains = 4}, {.chains = 8}, {.chains = 1, .full_wave = true}}};
constexpr std::array<ChaseShape, 4> kScalarShapes{{{.scalar = true, .chains = 1},
                                                   {.scalar = true, .chains = 2},
                                                   {.scalar = true, .chains = 4},
                                                   {.scalar = true, .chains = 8}}};

bool is_plain(const ChaseShape& shape) {
  return shape.chains == 1 && !shape.full_wave;
}

std::shared_ptr<const RandomCycle> make_cycle(std::uint64_t bytes) {
  return std::make_shared<RandomCycle>(static_cast<std::uint32_t>(bytes / kNodeBytes), bytes);
}

/// One figure to be measured: a place in a series, and in that of the minimum if it has one.
struct Job {
  ChaseShape shape;
  std::uint64_t bytes = 0;
  BenchPoint median;
  std::optional<BenchPoint> minimum;
};

/// The sizes of a shape other than the plain one: those of a cache near, one farther, and memory.
std::vector<std::uint64_t> fewer_sizes(const std::vector<std::uint64_t>& all, bool quick) {
  std::vector<std::uint64_t> some;
  for (const std::uint64_t bytes : all) {
    const bool power_of_two = (bytes & (bytes - 1)) == 0;
    const bool chosen = bytes == 16 * kKiB || bytes == 512 * kKiB || bytes == all.back();
    if (quick ? chosen : power_of_two) {
      some.push_back(bytes);
    }
  }
  return some;
}

std::vector<Job> plan(std::span<const ChaseShape> shapes, const std::vector<std::uint64_t>& sizes,
                      bool quick) {
  std::vector<Job> jobs;
  for (const ChaseShape& shape : shapes) {
    for (const std::uint64_t bytes : is_plain(shape) ? sizes : fewer_sizes(sizes, quick)) {
      Job job{.shape = shape, .bytes = bytes, .median = {}, .minimum = std::nullopt};
      job.median.x = static_cast<double>(bytes);
      jobs.push_back(std::move(job));
    }
  }
  return jobs;
}

/// Once through all nodes, so that what fits a cache is there.
Status walk_all(PreparedKernel& kernel, std::uint64_t nodes, const MeasurementOptions& options) {
  std::uint64_t trips = nodes / kHopsPerTrip + 1;
  while (trips > 0 && !(options.cancelled && options.cancelled())) {
    const auto now = static_cast<std::uint32_t>(std::min<std::uint64_t>(trips, kWarmTrips));
    if (const auto ran = kernel.run({.groups = 1, .trips = now, .repeats = 1}); !ran) {
      return tl::unexpected(ran.error());
    }
    trips -= now;
  }
  return {};
}

/// Of that many trips a dispatch, or of as many as make a run of the wanted length.
Result<MeasuredPoint> measure_run(PreparedKernel& kernel, std::optional<std::uint32_t> trips,
                                  const MeasurementOptions& options, PointObserver* observer) {
  const PlannedPoint point{.kernel = &kernel,
                           .launch = {.groups = 1, .trips = trips.value_or(1), .repeats = 1},
                           .scale_trips = !trips.has_value(),
                           .label = kernel.kernel().id};
  MeasuredPoint measured = measure({&point, 1}, options, observer).front();
  if (measured.error) {
    return tl::unexpected(*measured.error);
  }
  return measured;
}

/// ns a hop, from dispatches of two lengths: what both have in common is the launch.
void enter_difference(Job& job, const MeasuredPoint& whole, const MeasuredPoint& part) {
  if (!whole.timing || !part.timing) {
    return;  // cancelled
  }
  const Timing& longer = *whole.timing;
  const Timing& shorter = *part.timing;
  const double hops = hops_of_dispatch(whole.launch) - hops_of_dispatch(part.launch);
  const double base_ns = shorter.median_ns / part.launch.repeats;
  const auto per_hop = [&](double run_ns) {
    return (run_ns / whole.launch.repeats - base_ns) / hops;
  };
  if (!(hops > 0) || !(per_hop(longer.median_ns) > 0)) {
    job.median.status = TestStatus::kFailed;
    job.median.why = fmt::format(
        "dispatches of {:.0f} and {:.0f} hops took {:.0f} and {:.0f} ns: no time of a hop follows",
        hops_of_dispatch(whole.launch), hops_of_dispatch(part.launch),
        longer.median_ns / whole.launch.repeats, base_ns);
    return;
  }
  const double median = per_hop(longer.median_ns);
  job.median.median = median;
  job.median.p5 = std::clamp(per_hop(longer.p5_ns), 0.0, median);
  job.median.p95 = std::max(per_hop(longer.p95_ns), median);
  enter_timing(longer, job.median);
  job.median.drifts = longer.drifts || shorter.drifts;
  if (median < kLeastHopNs) {
    job.median.status = TestStatus::kSuspect;
    job.median.why =
        fmt::format("{:.3g} ns a hop is less than any cache takes: loads were left out", median);
  }
  // Of the shortest runs, which nothing disturbed; noise may put it above the median.
  const double shortest =
      (longer.min_ns / whole.launch.repeats - shorter.min_ns / part.launch.repeats) / hops;
  if (is_plain(job.shape) && shortest > 0) {
    job.minimum = job.median;
    job.minimum->median = std::min(shortest, median);
    job.minimum->p5 = job.minimum->p95 = std::nullopt;
  }
}

/// Leaves the job without a figure when cancelled.
Status measure_both(TestContext& context, const MeasurementOptions& options, PreparedKernel& kernel,
                    Job& job) {
  const auto whole = measure_run(kernel, std::nullopt, options, context.observer);
  if (!whole) {
    return tl::unexpected(whole.error());
  }
  if (!whole->timing) {
    return {};
  }
  MeasurementOptions brief = options;
  brief.run_ns *= kShortRun;
  brief.warm_up_ns = std::min(brief.warm_up_ns, kShortWarmUpNs);
  const auto short_trips = std::max(
      static_cast<std::uint32_t>(static_cast<double>(whole->launch.trips) * kShortRun), 1U);
  const auto part = measure_run(kernel, short_trips, brief, nullptr);
  if (!part) {
    return tl::unexpected(part.error());
  }
  enter_difference(job, *whole, *part);
  return {};
}

std::optional<Error> measure_job(TestContext& context, const MeasurementOptions& options, Job& job,
                                 TestResult& test) {
  const auto failed = [&](const Error& error) {
    enter_error(error, job.median);
    return error;
  };
  const auto cycle = make_cycle(job.bytes);
  const KernelCase kernel = chase_case(job.shape, context.runner.facts(), cycle);
  const auto proven = prepare_and_prove(context.runner, kernel, kProofLaunch);
  if (!proven) {
    return failed(proven.error());
  }
  enter_proofs(*proven, job.median, test);
  if (job.median.status == TestStatus::kFailed) {
    return std::nullopt;
  }
  PreparedKernel& prepared = *proven->kernel;
  if (const Status warm = walk_all(prepared, cycle->nodes(), options); !warm) {
    return failed(warm.error());
  }
  for (int attempt = 1;; ++attempt) {
    if (const Status measured = measure_both(context, options, prepared, job); !measured) {
      return failed(measured.error());
    }
    // Where other programs take the processor away the short run may seem the longer one.
    if (job.median.status != TestStatus::kFailed || attempt == kAttempts) {
      return std::nullopt;
    }
    job.median.status = TestStatus::kOk;
    job.median.why.clear();
  }
}

void collect(const std::vector<Job>& jobs, TestResult& test) {
  const auto series = [&](const std::string& name) -> BenchSeries& {
    const auto place = std::find_if(test.series.begin(), test.series.end(),
                                    [&](const BenchSeries& each) { return each.name == name; });
    return place != test.series.end() ? *place : test.series.emplace_back(BenchSeries{name, {}});
  };
  for (const Job& job : jobs) {
    series(name_of(job.shape)).points.push_back(job.median);
    if (job.minimum) {
      series(name_of(job.shape) + ", minimum").points.push_back(*job.minimum);
    }
  }
}

/// Clocks, of the plain chase where a sensor tells the clock.
void derive_clocks(const std::vector<Job>& jobs, TestResult& test) {
  for (const Job& job : jobs) {
    const auto mhz =
        job.median.clock_after_mhz ? job.median.clock_after_mhz : job.median.clock_before_mhz;
    if (is_plain(job.shape) && job.median.median && mhz) {
      test.derived.push_back({.what = fmt::format("{} KiB", job.bytes / kKiB),
                              .value = *job.median.median * *mhz / 1000,
                              .lower = std::nullopt,
                              .upper = std::nullopt,
                              .unit = "clk",
                              .confidence = "",
                              .by = fmt::format("{:.0f} MHz", *mhz)});
    }
  }
}

void judge_rate(const std::vector<Job>& jobs, TestResult& test) {
  for (const Job& job : jobs) {
    if (job.median.median) {
      test.rate =
          combine(test.rate, *job.median.median < kLeastHopNs ? Proof::kFailed : Proof::kPassed);
    }
  }
}

TestResult run_path(TestContext& context, std::string_view path, std::span<const ChaseShape> shapes,
                    std::optional<Error>& lost) {
  TestResult test;
  test.id = fmt::format("latency.{}", path);
  test.unit = "ns a hop";
  test.axis = "working set";
  test.axis_unit = "B";
  const vulkan::DeviceFacts& facts = context.runner.facts();
  const auto sizes = chase_sizes(facts, context.quick);
  std::vector<Job> jobs = plan(shapes, sizes, context.quick);
  lost = for_each_point(context.options, jobs.size(),
                        [&](std::size_t index, const MeasurementOptions& options) {
                          return measure_job(context, options, jobs[index], test);
                        });
  collect(jobs, test);
  derive_clocks(jobs, test);
  judge_rate(jobs, test);
  finish_test(test, lost);
  return test;
}

}  // namespace

std::vector<std::uint64_t> chase_sizes(const vulkan::DeviceFacts& facts, bool quick) {
  std::uint64_t largest = 0;
  if (facts.is_cpu) {
    largest = quick ? kLargestQuickCpuSet : kLargestCpuSet;
  } else {
    largest = quick ? kLargestQuickSet : kLargestSet;
  }
  largest = std::min({largest, facts.max_storage_range, facts.memory_bytes / kMemoryShare});
  std::vector<std::uint64_t> sizes;
  for (int half_steps = 0;; half_steps += quick ? 2 : 1) {
    const double exact = static_cast<double>(kSmallestSet) * std::exp2(half_steps / 2.0);
    const auto bytes = static_cast<std::uint64_t>(std::round(exact / kNodeBytes)) * kNodeBytes;
    if (bytes > std::max(largest, kSmallestSet)) {
      return sizes;
    }
    sizes.push_back(bytes);
  }
}

std::vector<TestResult> run_latency(TestContext& context) {
  std::vector<TestResult> results;
  std::optional<Error> lost;
  results.push_back(run_path(context, "vector", kVectorShapes, lost));
  if (!lost && !(context.options.cancelled && context.options.cancelled())) {
    results.push_back(run_path(context, "scalar", kScalarShapes, lost));
  }
  return results;
}

std::vector<KernelCase> latency_cases(const vulkan::DeviceFacts& facts) {
  std::vector<KernelCase> cases;
  cases.reserve(kVectorShapes.size() + kScalarShapes.size());
  const auto cycle = make_cycle(64 * kKiB);
  for (const ChaseShape& shape : kVectorShapes) {
    cases.push_back(chase_case(shape, facts, cycle));
  }
  for (const ChaseShape& shape : kScalarShapes) {
    cases.push_back(chase_case(shape, facts, cycle));
  }
  return cases;
}

}  // namespace gputrace::bench
