// `bench md`: forces between the atoms of a fluid, of all pairs and by lists of neighbours.
#pragma once

#include <vector>

#include "kernels/bench/bench_test.h"

namespace gputrace::bench {

[[nodiscard]] std::vector<analysis::TestResult> run_md(TestContext& context);
[[nodiscard]] std::vector<KernelCase> md_cases(const vulkan::DeviceFacts& facts);

}  // namespace gputrace::bench
