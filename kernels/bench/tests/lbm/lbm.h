// `bench lbm`: steps of a lattice Boltzmann simulation, by the format that it is kept in.
#pragma once

#include <vector>

#include "kernels/bench/bench_test.h"

namespace gputrace::bench {

[[nodiscard]] std::vector<analysis::TestResult> run_lbm(TestContext& context);
[[nodiscard]] std::vector<KernelCase> lbm_cases(const vulkan::DeviceFacts& facts);

}  // namespace gputrace::bench
