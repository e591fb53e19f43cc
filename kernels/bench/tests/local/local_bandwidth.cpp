#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <utility>

#include "kernels/bench/proven_kernel.h"
#include "kernels/bench/tests/local/local_parts.h"
#include "kernels/bench/tests/point_rate.h"

namespace gputrace::bench {

namespace {

using analysis::BenchPoint;
using analysis::BenchSeries;
using analysis::TestStatus;

constexpr std::uint32_t kProofTrips = 37;
constexpr double kWordBytes = 4;

/// 1 is the bandwidth, a power of two the banks, its neighbours whether padding helps.
unsigned rank_of(const LocalRead& read) {
  constexpr std::uint32_t kEveryBank = 32;
  if (read.stride == 1 || (read.words == 1 && read.stride == kEveryBank)) {
    return 0;
  }
  return (read.stride & (read.stride - 1)) == 0 ? 1 : 2;
}

double bytes_of(const LocalRead& read, const KernelCase& kernel, const Launch& launch) {
  return threads_of(kernel, launch) * launch.repeats * launch.trips * kLocalReadsPerTrip *
         read.words * kWordBytes;
}

}  // namespace

LocalBandwidth::LocalBandwidth(TestContext& context) : context_(context) {
  test_.id = "local.bandwidth";
  test_.unit = "GB/s";
  test_.axis = "stride";
  for (const std::uint32_t words : {1U, 2U, 4U}) {
    for (const std::uint32_t stride : {1U, 2U, 3U, 4U, 5U, 8U, 9U, 16U, 17U, 32U, 33U, 64U}) {
      const LocalRead read{.words = words, .stride = stride};
      reads_.push_back(read);
      ranks_.push_back(rank_of(read));
      points_.emplace_back().x = stride;
    }
  }
}

Status LocalBandwidth::measure(std::size_t index, const MeasurementOptions& options) {
  const LocalRead& read = reads_[index];
  BenchPoint& point = points_[index];
  const vulkan::DeviceFacts& facts = context_.runner.facts();
  if (!fits(read, facts)) {
    point.status = TestStatus::kSkipped;
    point.why = fmt::format(
        "{} bytes of local memory are too few for this stride: lanes would meet at one place",
        facts.max_shared_bytes);
    return {};
  }
  const KernelCase kernel = local_read_case(read, facts);
  const std::uint32_t groups = local_groups(facts);
  const auto proven = prepare_and_prove(context_.runner, kernel,
                                        {.groups = groups, .trips = kProofTrips, .repeats = 1});
  if (!proven) {
    enter_error(proven.error(), point);
    return tl::unexpected(proven.error());
  }
  enter_proofs(*proven, point, test_);
  if (point.status == TestStatus::kFailed) {
    return {};
  }
  const Status measured = measure_rate(
      context_, options,
      {.kernel = proven->kernel.get(),
       .launch = {.groups = groups, .trips = 1, .repeats = 1},
       .scale_trips = true,
       .label = kernel.id},
      [&](const Launch& launch) { return bytes_of(read, kernel, launch); }, point, test_);
  if (!measured) {
    enter_error(measured.error(), point);
  }
  return measured;
}

analysis::TestResult LocalBandwidth::result(const PointLoop& loop) {
  for (std::size_t i = 0; i < reads_.size(); ++i) {
    const std::string name = name_of(reads_[i]);
    if (test_.series.empty() || test_.series.back().name != name) {
      test_.series.push_back({.name = name, .points = {}});
    }
    const BenchPoint& point = points_[i];
    test_.series.back().points.push_back(point);
    if (reads_[i].stride == 1) {
      derive_per_core(point, context_.runner.facts().cores, name, "bytes", "B/clk", test_);
    }
  }
  finish_test(test_, loop);
  return std::move(test_);
}

}  // namespace gputrace::bench
