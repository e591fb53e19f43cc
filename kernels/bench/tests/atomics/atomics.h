// `bench atomics`: operations a second on words of global and of local memory, by how the lanes
// share them.
#pragma once

#include <vector>

#include "kernels/bench/bench_test.h"

namespace gputrace::bench {

[[nodiscard]] std::vector<analysis::TestResult> run_atomics(TestContext& context);
[[nodiscard]] std::vector<KernelCase> atomics_cases(const vulkan::DeviceFacts& facts);

}  // namespace gputrace::bench
