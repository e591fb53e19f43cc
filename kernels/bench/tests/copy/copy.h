// `bench copy`: how fast bytes come to memory that the GPU uses and back, by the CPU and by the
// GPU's copy command.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "kernels/bench/bench_test.h"

namespace gputrace::bench {

/// GB/s by the size of a copy. "copy.write" and "copy.read": memcpy to and from each kind of memory
/// that the CPU sees, a series a kind and core ("host, cached; fastest core"). "copy.upload" and
/// "copy.download": the copy command from host memory to the device's and back, a series a queue
/// ("transfer queue"). Derived: the best rate of each series ("copy.write.peak").
[[nodiscard]] std::vector<analysis::TestResult> run_copy(TestContext& context);
/// None: it runs no kernel.
[[nodiscard]] std::vector<KernelCase> copy_cases(const vulkan::DeviceFacts& facts);

/// Sizes of copies and when they are measured, ascending.
struct CopySize {
  std::uint64_t bytes = 0;
  unsigned rank = 0;  ///< as of for_each_point(), on the first core; the largest comes first
};

/// From 4 KiB to 256 MiB, less on a software rasteriser and where `most_bytes` is less.
[[nodiscard]] std::vector<CopySize> copy_sizes(const vulkan::DeviceFacts& facts, bool quick,
                                               std::uint64_t most_bytes);

/// Of a buffer, so that one in each heap leaves most of it free.
[[nodiscard]] std::uint64_t copy_room(const vulkan::DeviceFacts& facts);

/// The largest of `sizes` that takes no longer than `limit_ns` at `ns_per_byte`, at least the
/// smallest.
[[nodiscard]] std::uint64_t longest_copy(const std::vector<CopySize>& sizes, double ns_per_byte,
                                         double limit_ns);

}  // namespace gputrace::bench
