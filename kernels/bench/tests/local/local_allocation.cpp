#include <algorithm>
#include <memory>
#include <utility>

#include "kernels/bench/proven_kernel.h"
#include "kernels/bench/tests/census.h"
#include "kernels/bench/tests/local/local_parts.h"
#include "kernels/bench/tests/occupancy/occupancy_cases.h"
#include "kernels/bench/tests/occupancy/occupancy_steps.h"

namespace gputrace::bench {

namespace {

using analysis::BenchPoint;
using analysis::TestStatus;

constexpr Launch kProofLaunch{.groups = 4, .trips = 7, .repeats = 1};
constexpr std::uint32_t kSmallest = 1024;
/// One wave: many groups are to fit.
constexpr std::uint32_t kGroupThreads = 64;
constexpr std::uint32_t kMostGroups = 16384;
constexpr std::size_t kTimedRuns = 3;

bool is_power_of_two(std::uint32_t bytes) {
  return (bytes & (bytes - 1)) == 0;
}

/// Powers of four and the largest tell the total; one byte more tells how sizes are rounded.
unsigned rank_of(std::uint32_t bytes, std::uint32_t largest) {
  constexpr std::uint32_t kMiddle = 16384;
  if (bytes == largest || bytes == kSmallest || bytes == kMiddle || bytes == kMiddle + 1) {
    return 0;
  }
  return is_power_of_two(bytes) || is_power_of_two(bytes - 1) ? 1 : 2;
}

/// A simulated GPU counts nothing: its groups in flight are read from times.
Status read_steps(PreparedKernel& kernel, std::uint32_t trips, std::uint32_t most,
                  BenchPoint& point) {
  const DispatchTime dispatch = [&](std::uint32_t groups) -> Result<double> {
    std::vector<double> ns;
    while (ns.size() < kTimedRuns) {
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
  if (const std::optional<Steps>& found = *steps; found.has_value()) {
    point.median = found->slots;
    point.p5 = found->slots;
    point.p95 = found->above - 1;
    point.samples = kTimedRuns;
  }
  return {};
}

}  // namespace

std::vector<std::uint32_t> allocation_sizes(const vulkan::DeviceFacts& facts) {
  std::vector<std::uint32_t> sizes;
  constexpr std::uint32_t kEighths = 8;
  for (std::uint32_t bytes = kSmallest; bytes <= facts.max_shared_bytes && bytes != 0; bytes *= 2) {
    for (const std::uint32_t size :
         {bytes / kEighths * 5, bytes / kEighths * 6, bytes, bytes + 1}) {
      if (size >= kSmallest && size <= facts.max_shared_bytes) {
        sizes.push_back(size);
      }
    }
  }
  std::sort(sizes.begin(), sizes.end());
  return sizes;
}

LocalAllocation::LocalAllocation(TestContext& context)
    : context_(context),
      sizes_(allocation_sizes(context.runner.facts())),
      cycle_(std::make_shared<RandomCycle>(kDwellNodes, 1)) {
  test_.id = "local.allocation";
  test_.unit = "groups in flight";
  test_.axis = "local memory";
  test_.axis_unit = "B";
  for (const std::uint32_t bytes : sizes_) {
    ranks_.push_back(rank_of(bytes, sizes_.back()));
    points_.emplace_back().x = bytes;
  }
}

Status LocalAllocation::measure(std::size_t index, const MeasurementOptions& options) {
  BenchPoint& point = points_[index];
  const auto failed = [&](const Error& error) {
    enter_error(error, point);
    return tl::unexpected(error);
  };
  const auto reading = std::make_shared<CensusReading>();
  const OccupancyShape shape{
      .group_threads = kGroupThreads, .kept_words = 0, .shared_bytes = sizes_[index]};
  const auto proven =
      prepare_and_prove(context_.runner, occupancy_case(shape, cycle_, reading), kProofLaunch);
  if (!proven) {
    return failed(proven.error());
  }
  enter_proofs(*proven, point, test_);
  if (point.status == TestStatus::kFailed) {
    return {};
  }
  const auto trips = find_dwell(*proven->kernel);
  if (!trips) {
    return failed(trips.error());
  }
  const std::uint32_t limit = context_.runner.facts().max_groups_x;
  const Status counted =
      context_.runner.simulated()
          ? read_steps(*proven->kernel, *trips, std::min(limit, kMostGroups), point)
          : take_census(*proven->kernel, *trips, limit, *reading, options, point);
  return counted ? Status() : failed(counted.error());
}

analysis::TestResult LocalAllocation::result(const PointLoop& loop) {
  test_.series.push_back(
      {.name = context_.runner.simulated() ? "steps" : "census", .points = points_});
  finish_test(test_, loop);
  return std::move(test_);
}

}  // namespace gputrace::bench
