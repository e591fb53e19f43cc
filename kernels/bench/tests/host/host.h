// `bench host`: what a GPU's way to the memory of the host costs, and a submission.
#pragma once

#include <vector>

#include "kernels/bench/bench_test.h"

namespace gputrace::bench {

/// "host.chase" (ns a hop) and "host.stream" (GB/s): kernels on host memory and, beside it, on the
/// device's. "host.launch": us from submit to fence by the number of dispatches, with and without
/// barriers; derived "host.submit", "host.dispatch", "host.dispatch.barrier". "host.touch": us of a
/// dispatch that reads one word of a buffer, by the buffer's size; derived "host.touch.copy", what
/// part of a copy is hidden in it. "host.swap": ns of a round between CPU and GPU while a kernel
/// runs.
[[nodiscard]] std::vector<analysis::TestResult> run_host(TestContext& context);
/// Chases and streams are those of the latency and bandwidth tests.
[[nodiscard]] std::vector<KernelCase> host_cases(const vulkan::DeviceFacts& facts);

}  // namespace gputrace::bench
