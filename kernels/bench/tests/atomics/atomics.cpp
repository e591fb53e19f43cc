#include "kernels/bench/tests/atomics/atomics.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <span>
#include <string_view>
#include <utility>

#include "kernels/bench/proven_kernel.h"
#include "kernels/bench/tests/atomics/atomics_cases.h"
#include "kernels/bench/tests/point_loop.h"
#include "kernels/bench/tests/point_rate.h"

namespace gputrace::bench {

namespace {

using analysis::BenchPoint;
using analysis::DerivedValue;
using analysis::TestResult;
using analysis::TestStatus;

constexpr std::array kPlaces{AtomicPlace::kGlobal, AtomicPlace::kLocal, AtomicPlace::kGlobal64,
                             AtomicPlace::kGlobalFloat, AtomicPlace::kLocalFloat};
constexpr std::array kOperations{AtomicOperation::kAdd, AtomicOperation::kAddWithResult,
                                 AtomicOperation::kCompareSwap, AtomicOperation::kXor};
constexpr std::array kPatterns{AtomicPattern::kOneWord, AtomicPattern::kWordALane,
                               AtomicPattern::kLineALane, AtomicPattern::kWordAGroup,
                               AtomicPattern::kOneKnownWord};
/// Sums of floats stay below 2^24 and exact.
constexpr std::uint32_t kProofTrips = 3;
/// Many points, each with a driver's compilation before it.
constexpr double kRunNs = 5e6;
constexpr double kQuickRunNs = 1e6;
/// Of an addition in GB/s, as some publish it: 4 bytes read and 4 written.
constexpr double kBytesPublished = 8;

bool exists(const AtomicShape& shape) {
  const bool adds = shape.operation == AtomicOperation::kAdd ||
                    shape.operation == AtomicOperation::kAddWithResult;
  if (shape.pattern == AtomicPattern::kOneKnownWord) {
    return adds && !is_float(shape.place);  // the trap is one of sums that have no order
  }
  if (is_float(shape.place) && !adds) {
    return false;
  }
  // A group has its own local memory: one word is a word a group.
  return shape.pattern != AtomicPattern::kWordAGroup || !is_local(shape.place);
}

/// Additions of one word and of one for each lane come first, with the trap and one swap; then the
/// two ends of everything.
unsigned rank_of(const AtomicShape& shape) {
  const bool is_end =
      shape.pattern == AtomicPattern::kOneWord || shape.pattern == AtomicPattern::kWordALane;
  if (shape.operation == AtomicOperation::kAdd) {
    const bool is_plain = shape.place == AtomicPlace::kGlobal || shape.place == AtomicPlace::kLocal;
    const bool is_trap =
        shape.place == AtomicPlace::kGlobal && shape.pattern == AtomicPattern::kOneKnownWord;
    if ((is_plain && is_end) || shape.pattern == AtomicPattern::kWordALane || is_trap) {
      return 0;
    }
    return 1;
  }
  if (shape.operation == AtomicOperation::kCompareSwap && shape.place == AtomicPlace::kGlobal &&
      shape.pattern == AtomicPattern::kOneWord) {
    return 0;
  }
  return is_end ? 2 : 3;
}

std::vector<AtomicShape> shapes_of(AtomicPlace place) {
  std::vector<AtomicShape> shapes;
  for (const AtomicOperation operation : kOperations) {
    for (const AtomicPattern pattern : kPatterns) {
      const AtomicShape shape{.place = place, .operation = operation, .pattern = pattern};
      if (exists(shape)) {
        shapes.push_back(shape);
      }
    }
  }
  return shapes;
}

/// Empty when the device has them.
std::string missing_feature(AtomicPlace place, const vulkan::DeviceFacts& facts) {
  if (place == AtomicPlace::kGlobal64 && !facts.int64_atomics) {
    return "the device has no 64-bit atomics on buffers (shaderBufferInt64Atomics)";
  }
  if (place == AtomicPlace::kGlobalFloat && !facts.float_atomics) {
    return "the device has no float additions on buffers (shaderBufferFloat32AtomicAdd)";
  }
  if (place == AtomicPlace::kLocalFloat && !facts.shared_float_atomics) {
    return "the device has no float additions on local memory (shaderSharedFloat32AtomicAdd)";
  }
  return "";
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

Status measure_job(TestContext& context, const MeasurementOptions& given, Job& job,
                   TestResult& test) {
  const vulkan::DeviceFacts& facts = context.runner.facts();
  const std::uint32_t groups = std::min(atomic_groups(facts), std::max(facts.max_groups_x, 1U));
  const KernelCase kernel = atomic_case(job.shape, facts);
  const auto proven = prepare_and_prove(context.runner, kernel,
                                        {.groups = groups, .trips = kProofTrips, .repeats = 1});
  if (!proven) {
    return tl::unexpected(proven.error());
  }
  enter_proofs(*proven, job.point, test);
  job.point.x = static_cast<double>(groups) * kAtomicGroupThreads;
  if (job.point.status == TestStatus::kFailed) {
    return {};
  }
  job.adds_up_a_wave = adds_up_a_wave(*proven->kernel);
  MeasurementOptions options = given;
  options.run_ns = std::min(options.run_ns, context.quick ? kQuickRunNs : kRunNs);
  return measure_rate(context, options,
                      {.kernel = proven->kernel.get(),
                       .launch = {.groups = groups, .trips = 1, .repeats = 1},
                       .scale_trips = true,
                       .label = kernel.id},
                      atomics_of, job.point, test);
}

/// Rates of a known word are of additions, not of memory: it must be said beside them.
void explain_known_word(std::span<const Job> jobs, std::uint32_t lanes, TestResult& test) {
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

void derive_published_forms(std::span<const Job> jobs, std::optional<std::uint32_t> cores,
                            TestResult& test) {
  for (const Job& job : jobs) {
    if (job.shape.operation == AtomicOperation::kAdd &&
        job.shape.pattern == AtomicPattern::kWordALane && job.point.median) {
      test.derived.push_back({.what = fmt::format("{}: memory traffic", name_of(job.shape)),
                              .value = *job.point.median * kBytesPublished,
                              .lower = std::nullopt,
                              .upper = std::nullopt,
                              .unit = "GB/s",
                              .confidence = "",
                              .by = "counted as 8 bytes an operation, as some publish it"});
      derive_per_core(job.point, cores, name_of(job.shape), "operations", "op/clk", test);
    }
  }
}

class AtomicsRun {
 public:
  explicit AtomicsRun(TestContext& context) : context_(context) {
    for (const AtomicPlace place : kPlaces) {
      TestResult& test = tests_.emplace_back();
      test.id = test_id(place);
      test.unit = "Gop/s";
      test.axis = "threads";
      test.why = missing_feature(place, context.runner.facts());
      first_.push_back(jobs_.size());
      if (!test.why.empty()) {
        test.status = TestStatus::kSkipped;
        continue;
      }
      for (const AtomicShape& shape : shapes_of(place)) {
        jobs_.push_back({.shape = shape, .point = {}});
        ranks_.push_back(rank_of(shape));
        tests_of_.push_back(tests_.size() - 1);
      }
    }
    first_.push_back(jobs_.size());
  }

  std::vector<TestResult> run() {
    const PointLoop loop = for_each_point(
        context_.options, ranks_,
        [&](std::size_t index, const MeasurementOptions& options) -> std::optional<Error> {
          Job& job = jobs_[index];
          const Status done = measure_job(context_, options, job, tests_[tests_of_[index]]);
          if (!done) {
            enter_error(done.error(), job.point);
            return done.error();
          }
          return std::nullopt;
        });
    for (std::size_t i = 0; i < tests_.size(); ++i) {
      if (tests_[i].status == TestStatus::kOk) {
        finish(tests_[i], std::span(jobs_).subspan(first_[i], first_[i + 1] - first_[i]), loop);
      }
    }
    return std::move(tests_);
  }

 private:
  void finish(TestResult& test, std::span<const Job> jobs, const PointLoop& all) const {
    PointLoop loop{.lost = all.lost, .left_out = 0, .points = jobs.size()};
    for (const Job& job : jobs) {
      test.series.push_back({.name = name_of(job.shape), .points = {job.point}});
      const bool is_left_out =
          all.left_out > 0 && !job.point.median && job.point.status == TestStatus::kOk;
      loop.left_out += is_left_out ? 1 : 0;
    }
    explain_known_word(jobs, context_.runner.facts().subgroup_size, test);
    derive_published_forms(jobs, context_.runner.facts().cores, test);
    finish_test(test, loop);
  }

  TestContext& context_;
  std::vector<TestResult> tests_;
  std::vector<Job> jobs_;
  std::vector<unsigned> ranks_;
  std::vector<std::size_t> tests_of_;  ///< of each job
  std::vector<std::size_t> first_;     ///< job of each test, and one behind the last
};

}  // namespace

std::vector<TestResult> run_atomics(TestContext& context) {
  return AtomicsRun(context).run();
}

std::vector<KernelCase> atomics_cases(const vulkan::DeviceFacts& facts) {
  std::vector<KernelCase> cases;
  for (const AtomicPlace place : kPlaces) {
    if (!missing_feature(place, facts).empty()) {
      continue;
    }
    for (const AtomicShape& shape : shapes_of(place)) {
      cases.push_back(atomic_case(shape, facts));
    }
  }
  return cases;
}

}  // namespace gputrace::bench
