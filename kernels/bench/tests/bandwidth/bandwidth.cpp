#include "kernels/bench/tests/bandwidth/bandwidth.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <memory>
#include <utility>

#include "kernels/bench/proven_kernel.h"
#include "kernels/bench/tests/bandwidth/bandwidth_plan.h"
#include "kernels/bench/tests/point_loop.h"
#include "kernels/bench/tests/point_rate.h"

namespace gputrace::bench {

namespace {

using analysis::BenchPoint;
using analysis::TestResult;
using analysis::TestStatus;

/// A submission this long hides what the first dispatch waits for; there are many points.
constexpr double kRunNs = 5e6;
constexpr double kQuickRunNs = 2e6;
/// Enough for every lane to come back to where it began in a small region.
constexpr std::uint32_t kProofTrips = 7;
constexpr std::size_t kStreams = std::size(kBandwidthStreams);
constexpr double kKiB = 1024;

std::size_t test_of(Stream stream) {
  return static_cast<std::size_t>(
      std::find(std::begin(kBandwidthStreams), std::end(kBandwidthStreams), stream) -
      std::begin(kBandwidthStreams));
}

double bytes_of(const KernelCase& kernel, const Launch& launch) {
  return threads_of(kernel, launch) * launch.repeats * launch.trips *
         (kernel.read_bytes_per_trip + kernel.written_bytes_per_trip);
}

struct Job {
  BandwidthPoint planned;
  BenchPoint point;
};

class BandwidthRun {
 public:
  explicit BandwidthRun(TestContext& context) : context_(context) {
    for (const BandwidthPoint& planned : bandwidth_points(context.runner.facts(), context.quick)) {
      Job job{.planned = planned, .point = {}};
      job.point.x = static_cast<double>(planned.working_set);
      jobs_.push_back(std::move(job));
      std::uint64_t& most = most_bytes_.at(test_of(planned.stream));
      const std::uint64_t regions = planned.own ? own_groups(context.runner.facts()) : 1;
      most = std::max(most, planned.region_bytes * regions);
    }
    for (std::size_t i = 0; i < kStreams; ++i) {
      tests_.at(i).id = fmt::format("bandwidth.{}", name_of(kBandwidthStreams[i]));
      tests_.at(i).unit = "GB/s";
      tests_.at(i).axis = "working set";
      tests_.at(i).axis_unit = "B";
      shared_.at(i) = std::make_shared<int>(0);
    }
  }

  std::vector<TestResult> run() {
    std::vector<unsigned> ranks;
    ranks.reserve(jobs_.size());
    for (const Job& job : jobs_) {
      ranks.push_back(job.planned.rank);
    }
    const PointLoop loop = for_each_point(
        context_.options, ranks, [&](std::size_t index, const MeasurementOptions& options) {
          return measure_job(jobs_[index], options);
        });
    for (std::size_t i = 0; i < kStreams; ++i) {
      finish_test(tests_.at(i), collect(i, loop));
    }
    return {std::make_move_iterator(tests_.begin()), std::make_move_iterator(tests_.end())};
  }

 private:
  std::optional<Error> measure_job(Job& job, const MeasurementOptions& given) {
    if (const Status measured = measure_point(job, given); !measured) {
      enter_error(measured.error(), job.point);
      return measured.error();
    }
    return std::nullopt;
  }

  Status measure_point(Job& job, const MeasurementOptions& given) {
    const std::size_t place = test_of(job.planned.stream);
    TestResult& test = tests_.at(place);
    Region region{.bytes = job.planned.region_bytes,
                  .own = job.planned.own,
                  .shared = shared_.at(place),
                  .shared_bytes = most_bytes_.at(place)};
    SizedCase sized = cache_case(context_.runner.facts(), job.planned.stream, region);
    Launch proof = sized.launch;
    proof.trips = kProofTrips;
    auto proven = prepare_and_prove(context_.runner, sized.kernel, proof);
    if (!proven && proven.error().code == ErrorCode::kNoSpace) {
      // There may be room for this size and not for the largest.
      region.shared = nullptr;
      region.shared_bytes = 0;
      sized = cache_case(context_.runner.facts(), job.planned.stream, region);
      proven = prepare_and_prove(context_.runner, sized.kernel, proof);
    }
    if (!proven) {
      return tl::unexpected(proven.error());
    }
    enter_proofs(*proven, job.point, test);
    if (job.point.status == TestStatus::kFailed) {
      return {};
    }
    MeasurementOptions options = given;
    options.run_ns = std::min(options.run_ns, context_.quick ? kQuickRunNs : kRunNs);
    return measure_rate(
        context_, options,
        {.kernel = proven->kernel.get(),
         .launch = sized.launch,
         .scale_trips = true,
         .label = sized.kernel.id},
        [&](const Launch& launch) { return bytes_of(sized.kernel, launch); }, job.point, test);
  }

  /// Of the loop, what concerns this test.
  PointLoop collect(std::size_t place, const PointLoop& all) {
    TestResult& test = tests_.at(place);
    PointLoop loop{.lost = all.lost, .left_out = 0, .points = 0};
    analysis::BenchSeries own{.name = "own", .points = {}};
    analysis::BenchSeries shared{.name = "shared", .points = {}};
    for (const Job& job : jobs_) {
      if (test_of(job.planned.stream) == place) {
        (job.planned.own ? own : shared).points.push_back(job.point);
        const bool is_left_out =
            all.left_out > 0 && !job.point.median && job.point.status == TestStatus::kOk;
        loop.left_out += is_left_out ? 1 : 0;
        ++loop.points;
      }
    }
    derive_fastest(own, test);
    derive_fastest(shared, test);
    test.series = {std::move(own), std::move(shared)};
    return loop;
  }

  /// Bytes a clock and core at the fastest point, where a sensor tells the clock.
  void derive_fastest(const analysis::BenchSeries& series, TestResult& test) const {
    const BenchPoint* best = nullptr;
    for (const BenchPoint& point : series.points) {
      if (point.median && point.status == TestStatus::kOk &&
          (best == nullptr || *point.median > best->median.value_or(0))) {
        best = &point;
      }
    }
    if (best != nullptr) {
      derive_per_core(*best, context_.runner.facts().cores,
                      fmt::format("{}, {:g} KiB", series.name, best->x / kKiB), "bytes", "B/clk",
                      test);
    }
  }

  TestContext& context_;
  std::vector<Job> jobs_;
  std::array<TestResult, kStreams> tests_;
  std::array<std::uint64_t, kStreams> most_bytes_{};
  /// What all sizes of a stream read is in one buffer: it is filled once.
  std::array<std::shared_ptr<int>, kStreams> shared_;
};

}  // namespace

std::vector<TestResult> run_bandwidth(TestContext& context) {
  return BandwidthRun(context).run();
}

std::vector<KernelCase> bandwidth_cases(const vulkan::DeviceFacts& facts) {
  std::vector<KernelCase> cases;
  constexpr std::uint64_t kUsual = 16384;
  for (const Stream stream : kBandwidthStreams) {
    for (const bool own : {true, false}) {
      const std::uint64_t bytes = std::max(kUsual, least_region(facts, stream));
      cases.push_back(cache_case(facts, stream, {.bytes = bytes, .own = own}).kernel);
    }
  }
  return cases;
}

}  // namespace gputrace::bench
