// `bench occupancy`: how many groups are in flight at once, as registers, group size and local
// memory limit them. Counted by the groups themselves and read from times; both must agree.
#pragma once

#include <vector>

#include "kernels/bench/bench_test.h"

namespace gputrace::bench {

[[nodiscard]] std::vector<analysis::TestResult> run_occupancy(TestContext& context);
[[nodiscard]] std::vector<KernelCase> occupancy_cases(const vulkan::DeviceFacts& facts);

}  // namespace gputrace::bench
