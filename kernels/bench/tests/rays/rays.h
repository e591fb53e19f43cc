// `bench rays`: rays a second through a city of triangles.
#pragma once

#include <vector>

#include "kernels/bench/bench_test.h"

namespace gputrace::bench {

[[nodiscard]] std::vector<analysis::TestResult> run_rays(TestContext& context);
[[nodiscard]] std::vector<KernelCase> rays_cases(const vulkan::DeviceFacts& facts);

}  // namespace gputrace::bench
