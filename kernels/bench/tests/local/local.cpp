#include "kernels/bench/tests/local/local.h"

#include <memory>

#include "kernels/bench/tests/local/local_parts.h"
#include "kernels/bench/tests/occupancy/occupancy_cases.h"

namespace gputrace::bench {

namespace {

using analysis::TestResult;
using analysis::TestStatus;

/// Of the loop, what concerns one of its tables.
PointLoop part_of(const PointLoop& all, const std::vector<unsigned>& ranks, std::size_t measured) {
  return {.lost = all.lost,
          .left_out = all.left_out > 0 ? ranks.size() - measured : 0,
          .points = ranks.size()};
}

}  // namespace

std::vector<TestResult> run_local(TestContext& context) {
  if (context.runner.facts().max_shared_bytes == 0) {
    TestResult none;
    none.id = "local.bandwidth";
    none.status = TestStatus::kSkipped;
    none.why = "the device has no local memory (maxComputeSharedMemorySize is 0)";
    return {none};
  }
  LocalBandwidth bandwidth(context);
  LocalAllocation allocation(context);
  std::vector<unsigned> ranks = bandwidth.ranks();
  ranks.insert(ranks.end(), allocation.ranks().begin(), allocation.ranks().end());
  std::size_t read = 0;
  std::size_t allocated = 0;
  const PointLoop loop = for_each_point(
      context.options, ranks,
      [&](std::size_t index, const MeasurementOptions& options) -> std::optional<Error> {
        const std::size_t reads = bandwidth.ranks().size();
        ++(index < reads ? read : allocated);
        const Status done = index < reads ? bandwidth.measure(index, options)
                                          : allocation.measure(index - reads, options);
        return done ? std::nullopt : std::optional(done.error());
      });
  return {bandwidth.result(part_of(loop, bandwidth.ranks(), read)),
          allocation.result(part_of(loop, allocation.ranks(), allocated))};
}

std::vector<KernelCase> local_cases(const vulkan::DeviceFacts& facts) {
  std::vector<KernelCase> cases;
  for (const std::uint32_t words : {1U, 2U, 4U}) {
    for (const std::uint32_t stride : {1U, 32U}) {
      if (const LocalRead read{.words = words, .stride = stride}; fits(read, facts)) {
        cases.push_back(local_read_case(read, facts));
      }
    }
  }
  const auto cycle = std::make_shared<RandomCycle>(kDwellNodes, 1);
  const std::vector<std::uint32_t> sizes = allocation_sizes(facts);
  if (!sizes.empty()) {
    const OccupancyShape shape{.group_threads = 64, .kept_words = 0, .shared_bytes = sizes.front()};
    cases.push_back(occupancy_case(shape, cycle, nullptr));
  }
  return cases;
}

}  // namespace gputrace::bench
