// `bench local`: how fast local memory is read, by width and stride, and how it is given to groups.
// Its latency is a path of `bench latency`.
#pragma once

#include <vector>

#include "kernels/bench/bench_test.h"

namespace gputrace::bench {

[[nodiscard]] std::vector<analysis::TestResult> run_local(TestContext& context);
[[nodiscard]] std::vector<KernelCase> local_cases(const vulkan::DeviceFacts& facts);

}  // namespace gputrace::bench
