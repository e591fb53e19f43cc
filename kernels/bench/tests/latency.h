// `bench latency`: ns from a load to the next that depends on it, by working set, on the vector and
// on the scalar path.
#pragma once

#include <cstdint>
#include <vector>

#include "kernels/bench/bench_test.h"

namespace gputrace::bench {

[[nodiscard]] std::vector<analysis::TestResult> run_latency(TestContext& context);
/// One of each shape: sizes change the data alone, never the code.
[[nodiscard]] std::vector<KernelCase> latency_cases(const vulkan::DeviceFacts& facts);

/// Working sets in bytes, ascending: from 4 KiB in steps of a factor 2, or its root in a full run,
/// to what the device's memory and ranges allow.
[[nodiscard]] std::vector<std::uint64_t> chase_sizes(const vulkan::DeviceFacts& facts, bool quick);

}  // namespace gputrace::bench
