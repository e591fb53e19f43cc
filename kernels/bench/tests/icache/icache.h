// Instruction caches: the rate of a loop by the size of its code.
#pragma once

#include <vector>

#include "kernels/bench/bench_test.h"

namespace gputrace::bench {

/// "icache.4B" of additions and "icache.8B" of FMAs, in Gop/s over bytes of code: one wave, and as
/// many as the GPU takes; one chain of operations that wait for each other, and four. What takes
/// longest is compiling: sizes whose time would not fit the test's share are left out.
[[nodiscard]] std::vector<analysis::TestResult> run_icache(TestContext& context);
[[nodiscard]] std::vector<KernelCase> icache_cases(const vulkan::DeviceFacts& facts);

}  // namespace gputrace::bench
