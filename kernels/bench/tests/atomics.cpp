#include "kernels/bench/tests/atomics.h"

#include <fmt/format.h>

#include <algorithm>
#include <string_view>
#include <utility>

#include "kernels/bench/proven_kernel.h"
#include "kernels/bench/tests/atomics_cases.h"
#include "kernels/bench/tests/point_loop.h"

namespace gputrace::bench {

namespace {

using analysis::BenchPoint;
using analysis::DerivedValue;
using analysis::TestResult;
using analysis::TestStatus;

constexpr std::array kPlaces{AtomicPlace::kGlobal, AtomicPlace::kLocal, AtomicPlace::kGlobal64};
constexpr std::array kOperations{AtomicOperation::kAdd, AtomicOperation::kAddWithResult,
                                 AtomicOperation::kCompareSwap, AtomicOperation::kXor};
constexpr std::array kPatterns{AtomicPattern::kOneWord, AtomicPattern::kWordALane,
                               AtomicPattern::kLineALane, AtomicPattern::kWordAGroup,
                               AtomicPattern::kOneKnownWord};
constexpr std::uint32_t kProofTrips = 3;
/// Of an addition in GB/s, as some publish it: 4 bytes read and 4 written.
constexpr double kBytesPublished = 8;

bool exists(const AtomicShape& shape) {
  const bool adds = shape.operation == AtomicOperation::kAdd ||
                    shape.operation == AtomicOperation::kAddWithResult;
  if (shape.pattern == AtomicPattern::kOneKnownWord) {
    return adds;  // the trap is one of sums
  }
  // A group has its own local memory: one word is a word a group.
  return shape.pattern != AtomicPattern::kWordAGroup || shape.place != AtomicPlace::kLocal;
}

/// Additions of all patterns; of the others the two ends.
bool is_quick(const AtomicShape& shape) {
  const bool end =
      shape.pattern == AtomicPattern::kOneWord || shape.pattern == AtomicPattern::kWordALane;
  if (shape.place == AtomicPlace::kGlobal64) {
    return end && (shape.operation == AtomicOperation::kAdd ||
                   shape.operation == AtomicOperation::kCompareSwap);
  }
  return end || shape.operation == AtomicOperation::kAdd;
}

std::vector<AtomicShape> shapes_of(AtomicPlace place, bool quick) {
  std::vector<AtomicShape> shapes;
  for (const AtomicOperation operation : kOperations) {
    for (const AtomicPattern pattern : kPatterns) {
      const AtomicShape shape{.place = place, .operation = operation, .pattern = pattern};
      if (exists(shape) && (!quick || is_quick(shape))) {
        shapes.push_back(shape);
      }
    }
  }
  return shapes;
}

struct Job {
  AtomicShape shape;
  BenchPoint point;
  bool adds_up_a_wave = false;  ///< seen in the driver's code
};

/// RADV counts the active lanes and lets one of them add for all.
bool adds_up_a_wave(const PreparedKernel& kernel) {
  const auto executables = kernel.executables();
  if (!executables) {
    return false;
  }
  return std::any_of(executables->begin(), executables->end(), [](const auto& executable) {
    return executable.assembly.find("s_bcnt1_i32") != std::string::npos;
  });
}

std::optional<Error> measure_job(TestContext& context, const MeasurementOptions& options, Job& job,
                                 TestResult& test) {
  const vulkan::DeviceFacts& facts = context.runner.facts();
  const std::uint32_t groups = std::min(atomic_groups(facts), std::max(facts.max_groups_x, 1U));
  const KernelCase kernel = atomic_case(job.shape, facts);
  const auto proven = prepare_and_prove(context.runner, kernel,
                                        {.groups = groups, .trips = kProofTrips, .repeats = 1});
  if (!proven) {
    enter_error(proven.error(), job.point);
    return proven.error();
  }
  enter_proofs(*proven, job.point, test);
  job.point.x = static_cast<double>(groups) * kAtomicGroupThreads;
  if (job.point.status == TestStatus::kFailed) {
    return std::nullopt;
  }
  job.adds_up_a_wave = adds_up_a_wave(*proven->kernel);
  const PlannedPoint planned{.kernel = proven->kernel.get(),
                             .launch = {.groups = groups, .trips = 1, .repeats = 1},
                             .scale_trips = true,
                             .label = kernel.id};
  const MeasuredPoint measured = measure({&planned, 1}, options, context.observer).front();
  if (measured.error) {
    enter_error(*measured.error, job.point);
    return measured.error;
  }
  if (measured.timing) {
    const double operations = atomics_of(measured.launch);
    enter_timing(*measured.timing, job.point);
    job.point.median = operations / measured.timing->median_ns;
    job.point.p5 = operations / measured.timing->p95_ns;
    job.point.p95 = operations / measured.timing->p5_ns;
  }
  return std::nullopt;
}

/// Rates of a known word are of additions, not of memory: it must be said beside them.
void explain_known_word(const std::vector<Job>& jobs, std::uint32_t lanes, TestResult& test) {
  for (const Job& job : jobs) {
    if (job.shape.pattern != AtomicPattern::kOneKnownWord || !job.point.median) {
      continue;
    }
    const std::string_view seen =
        job.adds_up_a_wave
            ? "the driver's code adds up a wave, then one lane does one atomic for all"
            : "drivers such as RADV add up a wave before one atomic; whether this one does is not "
              "known";
    test.derived.push_back({.what = fmt::format("{}: operations counted for an atomic instruction",
                                                name_of(job.shape)),
                            .value = static_cast<double>(lanes),
                            .lower = std::nullopt,
                            .upper = std::nullopt,
                            .unit = "",
                            .confidence = job.adds_up_a_wave ? "sure" : "a guess",
                            .by = fmt::format("operations are counted a lane; {}", seen)});
  }
}

void derive_published_form(const std::vector<Job>& jobs, TestResult& test) {
  for (const Job& job : jobs) {
    if (job.shape.operation == AtomicOperation::kAdd &&
        job.shape.pattern == AtomicPattern::kWordALane && job.point.median) {
      test.derived.push_back({.what = name_of(job.shape),
                              .value = *job.point.median * kBytesPublished,
                              .lower = std::nullopt,
                              .upper = std::nullopt,
                              .unit = "GB/s",
                              .confidence = "",
                              .by = "counted as 8 bytes an operation, as some publish it"});
    }
  }
}

TestResult run_place(TestContext& context, AtomicPlace place, std::optional<Error>& lost) {
  TestResult test;
  test.id = test_id(place);
  test.unit = "Gop/s";
  test.axis = "threads";
  const vulkan::DeviceFacts& facts = context.runner.facts();
  if (place == AtomicPlace::kGlobal64 && !facts.int64_atomics) {
    test.status = TestStatus::kSkipped;
    test.why = "the device has no 64-bit atomics on buffers (shaderBufferInt64Atomics)";
    return test;
  }
  std::vector<Job> jobs;
  for (const AtomicShape& shape : shapes_of(place, context.quick)) {
    jobs.push_back({.shape = shape, .point = {}});
  }
  lost = for_each_point(context.options, jobs.size(),
                        [&](std::size_t index, const MeasurementOptions& options) {
                          return measure_job(context, options, jobs[index], test);
                        });
  for (const Job& job : jobs) {
    test.series.push_back({.name = name_of(job.shape), .points = {job.point}});
  }
  explain_known_word(jobs, facts.subgroup_size, test);
  derive_published_form(jobs, test);
  finish_test(test, lost);
  return test;
}

}  // namespace

std::vector<TestResult> run_atomics(TestContext& context) {
  std::vector<TestResult> results;
  std::optional<Error> lost;
  for (const AtomicPlace place : kPlaces) {
    if (lost || (context.options.cancelled && context.options.cancelled())) {
      break;
    }
    results.push_back(run_place(context, place, lost));
  }
  return results;
}

std::vector<KernelCase> atomics_cases(const vulkan::DeviceFacts& facts) {
  std::vector<KernelCase> cases;
  for (const AtomicPlace place : kPlaces) {
    if (place == AtomicPlace::kGlobal64 && !facts.int64_atomics) {
      continue;
    }
    for (const AtomicShape& shape : shapes_of(place, false)) {
      cases.push_back(atomic_case(shape, facts));
    }
  }
  return cases;
}

}  // namespace gputrace::bench
