// `bench c2c`: ns for a word to get from one core to another, and from one wave of a group to
// another, by compare-and-swap.
#pragma once

#include <vector>

#include "kernels/bench/bench_test.h"

namespace gputrace::bench {

[[nodiscard]] std::vector<analysis::TestResult> run_c2c(TestContext& context);
[[nodiscard]] std::vector<KernelCase> c2c_cases(const vulkan::DeviceFacts& facts);

}  // namespace gputrace::bench
