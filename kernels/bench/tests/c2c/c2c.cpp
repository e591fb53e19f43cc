#include "kernels/bench/tests/c2c/c2c.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "kernels/bench/proven_kernel.h"
#include "kernels/bench/tests/c2c/c2c_cases.h"
#include "kernels/bench/tests/c2c/c2c_clusters.h"
#include "kernels/bench/tests/point_loop.h"

namespace gputrace::bench {

namespace {

using analysis::BenchPoint;
using analysis::TestResult;
using analysis::TestStatus;

constexpr std::uint32_t kProofSwaps = 37;
/// Swaps of each of the two in a dispatch; the time of a shorter one is subtracted, and with it the
/// launch and the time until both are there.
constexpr std::uint32_t kSwaps = 2000;
constexpr std::uint32_t kFewerSwaps = 500;
/// Pairs are many, and their order matters more than their last digit.
constexpr double kRunNs = 1e6;
constexpr double kWarmUpNs = 5e6;
/// Pairs of more groups would take minutes.
constexpr std::uint32_t kMostGroups = 64;
constexpr std::uint32_t kUnknownCores = 16;
constexpr int kAttempts = 3;

struct Job {
  std::uint32_t first = 0;
  std::uint32_t second = 0;
  unsigned rank = 0;
  BenchPoint point;
  HandOvers hand_overs;
};

MeasurementOptions brief(const MeasurementOptions& given) {
  MeasurementOptions options = given;
  options.run_ns = std::min(options.run_ns, kRunNs);
  options.warm_up_ns = std::min(options.warm_up_ns, kWarmUpNs);
  options.samples = std::min(options.samples, 2 * kFewestSamples);
  return options;
}

Result<MeasuredPoint> measure_swaps(PreparedKernel& kernel, std::uint32_t groups,
                                    std::uint32_t swaps, const MeasurementOptions& options,
                                    PointObserver* observer) {
  const PlannedPoint planned{.kernel = &kernel,
                             .launch = {.groups = groups, .trips = swaps, .repeats = 1},
                             .scale_trips = false,
                             .label = kernel.kernel().id};
  MeasuredPoint measured = measure({&planned, 1}, options, observer).front();
  if (measured.error) {
    return tl::unexpected(*measured.error);
  }
  return measured;
}

/// ns of one hand-over. Not positive: a busy machine made the short run the longer one.
double one_way_ns(double long_ns, const Launch& longer, double short_ns, const Launch& shorter) {
  const double hand_overs = 2.0 * (longer.trips - shorter.trips);
  return (long_ns / longer.repeats - short_ns / shorter.repeats) / hand_overs;
}

/// Leaves the point without a figure when cancelled.
Status measure_lengths(TestContext& context, const MeasurementOptions& options,
                       PreparedKernel& kernel, std::uint32_t groups, BenchPoint& point) {
  for (int attempt = 1; attempt <= kAttempts; ++attempt) {
    const auto whole = measure_swaps(kernel, groups, kSwaps, options, context.observer);
    const auto part = whole && whole->timing
                          ? measure_swaps(kernel, groups, kFewerSwaps, options, nullptr)
                          : whole;
    if (!part) {
      return tl::unexpected(part.error());
    }
    const std::optional<Timing>& longer = whole->timing;
    const std::optional<Timing>& shorter = part->timing;
    if (!longer.has_value() || !shorter.has_value()) {
      return {};
    }
    const auto one_way = [&](double long_ns) {
      return one_way_ns(long_ns, whole->launch, shorter->median_ns, part->launch);
    };
    const double median = one_way(longer->median_ns);
    if (median > 0) {
      enter_timing(*longer, point);
      point.median = median;
      point.p5 = std::clamp(one_way(longer->p5_ns), 0.0, median);
      point.p95 = std::max(one_way(longer->p95_ns), median);
      return {};
    }
  }
  point.status = TestStatus::kFailed;
  point.why = fmt::format("{} swaps took no longer than {}: no time of a hand-over follows", kSwaps,
                          kFewerSwaps);
  return {};
}

/// Times of dispatches that gave up say nothing.
void look_back(PreparedKernel& kernel, Job& job) {
  const auto outputs = kernel.read_back();
  if (!outputs) {
    return;
  }
  job.hand_overs = read_hand_overs(*outputs);
  if (job.point.median && job.hand_overs.missed + job.hand_overs.unfinished > 0) {
    job.point.median = job.point.p5 = job.point.p95 = std::nullopt;
    job.point.status = TestStatus::kFailed;
    job.point.why =
        fmt::format("of {} dispatches {} waited for a partner in vain and {} spent all their tries",
                    job.hand_overs.dispatches, job.hand_overs.missed, job.hand_overs.unfinished);
  }
}

Status measure_pair(TestContext& context, const MeasurementOptions& given, const KernelCase& kernel,
                    std::uint32_t groups, Job& job, TestResult& test) {
  const auto proven = prepare_and_prove(context.runner, kernel,
                                        {.groups = groups, .trips = kProofSwaps, .repeats = 2});
  if (!proven) {
    return tl::unexpected(proven.error());
  }
  enter_proofs(*proven, job.point, test);
  if (job.point.status == TestStatus::kFailed) {
    return {};
  }
  const Status measured =
      measure_lengths(context, brief(given), *proven->kernel, groups, job.point);
  if (measured) {
    look_back(*proven->kernel, job);
  }
  return measured;
}

void derive_tries(const std::vector<Job>& jobs, TestResult& test) {
  double failed = 0;
  double measured = 0;
  std::uint64_t swaps = 0;
  for (const Job& job : jobs) {
    if (job.point.median && job.hand_overs.dispatches > 0) {
      failed += job.hand_overs.failed_tries_per_swap();
      swaps += job.hand_overs.swaps[0];
      ++measured;
    }
  }
  if (measured > 0) {
    test.derived.push_back({.what = "failed tries a swap",
                            .value = failed / measured,
                            .lower = std::nullopt,
                            .upper = std::nullopt,
                            .unit = "",
                            .confidence = "",
                            .by = fmt::format("{} rounds, none given up", swaps)});
  }
}

std::uint32_t groups_of(const vulkan::DeviceFacts& facts) {
  const std::uint32_t wanted = std::min(2 * facts.cores.value_or(kUnknownCores), kMostGroups);
  return std::clamp(facts.max_groups_x, 2U, std::max(wanted, 2U));
}

/// All pairs; in a quick run those of group 0.
std::vector<Job> pairs(std::uint32_t groups, bool quick) {
  std::vector<Job> jobs;
  for (std::uint32_t first = 0; first + 1 < groups; ++first) {
    for (std::uint32_t second = first + 1; second < groups; ++second) {
      Job job{.first = first, .second = second, .rank = 0, .point = {}, .hand_overs = {}};
      job.point.x = second;
      const bool is_power = (second & (second - 1)) == 0;
      if (first > 0) {
        job.rank = 2;
      } else if (second > 1) {
        job.rank = is_power ? 1 : 2;
      }
      if (!quick || first == 0) {
        jobs.push_back(std::move(job));
      }
    }
  }
  return jobs;
}

void derive_clusters(const std::vector<Job>& jobs, TestResult& test) {
  std::vector<double> ns;
  for (const Job& job : jobs) {
    if (job.point.median && job.point.status == TestStatus::kOk) {
      ns.push_back(*job.point.median);
    }
  }
  const std::size_t measured = ns.size();
  for (const TimeCluster& cluster : cluster_times(std::move(ns))) {
    test.derived.push_back({.what = std::string(cluster.name),
                            .value = cluster.median_ns,
                            .lower = cluster.least_ns,
                            .upper = cluster.most_ns,
                            .unit = "ns",
                            .confidence = "a guess",
                            .by = fmt::format("{} of {} pairs, told apart by their times alone",
                                              cluster.pairs, measured)});
  }
}

TestResult run_global(TestContext& context) {
  TestResult test;
  test.id = "c2c.global";
  test.unit = "ns one way";
  test.axis = "second group";
  const vulkan::DeviceFacts& facts = context.runner.facts();
  if (facts.loop_trip_limit) {
    test.status = TestStatus::kSkipped;
    test.why = fmt::format(
        "{} ends a shader after {} loop trips and runs several groups on one thread: two groups "
        "that wait for each other cannot be measured; Mesa 25 can",
        facts.listed.name, *facts.loop_trip_limit);
    return test;
  }
  const std::uint32_t groups = groups_of(facts);
  std::vector<Job> jobs = pairs(groups, context.quick);
  std::vector<unsigned> ranks;
  ranks.reserve(jobs.size());
  for (const Job& job : jobs) {
    ranks.push_back(job.rank);
  }
  const PointLoop loop = for_each_point(
      context.options, ranks,
      [&](std::size_t index, const MeasurementOptions& options) -> std::optional<Error> {
        Job& job = jobs[index];
        const KernelCase kernel = c2c_global_case(facts, job.first, job.second);
        const Status done = measure_pair(context, options, kernel, groups, job, test);
        if (!done) {
          enter_error(done.error(), job.point);
          return done.error();
        }
        return std::nullopt;
      });
  for (const Job& job : jobs) {
    const std::string name = fmt::format("group {}", job.first);
    if (test.series.empty() || test.series.back().name != name) {
      test.series.push_back({.name = name, .points = {}});
    }
    test.series.back().points.push_back(job.point);
  }
  derive_tries(jobs, test);
  derive_clusters(jobs, test);
  finish_test(test, loop);
  return test;
}

TestResult run_local_memory(TestContext& context, std::optional<Error>& lost) {
  TestResult test;
  test.id = "c2c.local";
  test.unit = "ns one way";
  test.axis = "threads";
  const vulkan::DeviceFacts& facts = context.runner.facts();
  std::vector<Job> jobs(2);
  const std::vector<unsigned> ranks(jobs.size(), 0);
  const PointLoop loop = for_each_point(
      context.options, ranks,
      [&](std::size_t index, const MeasurementOptions& options) -> std::optional<Error> {
        Job& job = jobs[index];
        job.point.x = 2;
        const bool two_lanes = index == 1;
        if (!two_lanes && facts.is_cpu) {
          job.point.status = TestStatus::kSkipped;
          job.point.why = fmt::format(
              "{} runs the waves of a group one after the other until a barrier: one that waited "
              "for another would wait for ever",
              facts.listed.name);
          return std::nullopt;
        }
        const Status done =
            measure_pair(context, options, c2c_local_case(facts, two_lanes), 1, job, test);
        if (!done) {
          enter_error(done.error(), job.point);
          return done.error();
        }
        return std::nullopt;
      });
  test.series = {{.name = "two waves", .points = {jobs[0].point}},
                 {.name = "two lanes of one wave", .points = {jobs[1].point}}};
  derive_tries(jobs, test);
  finish_test(test, loop);
  lost = loop.lost;
  return test;
}

}  // namespace

std::vector<TestResult> run_c2c(TestContext& context) {
  std::vector<TestResult> results;
  std::optional<Error> lost;
  // The short one first: pairs of groups take what is left of the share.
  results.push_back(run_local_memory(context, lost));
  if (!lost && !(context.options.cancelled && context.options.cancelled())) {
    results.insert(results.begin(), run_global(context));
  }
  return results;
}

std::vector<KernelCase> c2c_cases(const vulkan::DeviceFacts& facts) {
  return {c2c_global_case(facts, 0, 1), c2c_local_case(facts, false), c2c_local_case(facts, true)};
}

}  // namespace gputrace::bench
