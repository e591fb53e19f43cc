// How much work in flight a GPU needs: FMAs a second from one group to many times its slots.
#pragma once

#include <optional>
#include <vector>

#include "kernels/bench/bench_test.h"

namespace gputrace::bench {

/// GFLOPS of fp32 FMAs, eight chains a work item, by work items. "items.50" and "items.90": where
/// the curve first passes these shares of its highest point.
[[nodiscard]] std::vector<analysis::TestResult> run_parallel(TestContext& context);
[[nodiscard]] std::vector<KernelCase> parallel_cases(const vulkan::DeviceFacts& facts);

struct ParallelPoint {
  double items = 0;
  double rate = 0;
};

/// Work items at which the curve, in ascending order of them, first reaches `share` of its maximum,
/// between points by interpolation over the logarithm. Absent for fewer than three points, and when
/// the first is there already.
[[nodiscard]] std::optional<double> items_for(const std::vector<ParallelPoint>& curve,
                                              double share);

}  // namespace gputrace::bench
