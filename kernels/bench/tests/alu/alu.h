// Rates of arithmetic: each operation of each type, with each subgroup size that may be asked for.
#pragma once

#include <vector>

#include "kernels/bench/bench_test.h"

namespace gputrace::bench {

/// "alu.fp16" to "alu.int64" in Gop/s, an operation of one lane (or half) as one, over the subgroup
/// size. No operation may be faster than fp32 additions and FMAs are: what is has lost work.
[[nodiscard]] std::vector<analysis::TestResult> run_alu(TestContext& context);
[[nodiscard]] std::vector<KernelCase> alu_cases(const vulkan::DeviceFacts& facts);

}  // namespace gputrace::bench
