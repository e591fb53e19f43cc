// `bench bandwidth`: GB/s of reads, writes and mixes of both, by working set, of a region for each
// group and of one that all share.
#pragma once

#include <vector>

#include "kernels/bench/bench_test.h"

namespace gputrace::bench {

[[nodiscard]] std::vector<analysis::TestResult> run_bandwidth(TestContext& context);
[[nodiscard]] std::vector<KernelCase> bandwidth_cases(const vulkan::DeviceFacts& facts);

}  // namespace gputrace::bench
