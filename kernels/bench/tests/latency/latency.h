// `bench latency`: ns from a load to the next that depends on it, by working set, on every path
// that reads have through a GPU; and each hop timed by the GPU's own clock.
#pragma once

#include <array>
#include <cstdint>
#include <vector>

#include "kernels/bench/bench_test.h"

namespace gputrace::bench {

/// In the order of the results.
inline constexpr std::array<Path, 7> kChasePaths{Path::kVector, Path::kScalar, Path::kConstant,
                                                 Path::kTexel,  Path::kImage,  Path::kSampled,
                                                 Path::kLocal};

/// One for each path, then latency.hops; those alone of which something was measured when it was
/// cancelled.
[[nodiscard]] std::vector<analysis::TestResult> run_latency(TestContext& context);
/// One of each shape: sizes change the data alone, never the code.
[[nodiscard]] std::vector<KernelCase> latency_cases(const vulkan::DeviceFacts& facts);

struct ChaseSize {
  std::uint64_t bytes = 0;
  /// In the order of measuring: factors of 4 of the vector path and of 16 of the others, then its
  /// octaves, then theirs, then factors of 2^(1/4).
  unsigned rank = 0;
};

/// Ascending from 1 KiB, to what the device's memory and ranges allow; empty where the path has
/// nothing to read from. The steps of a full run are quarters of an octave, but for images, whose
/// sides are powers of two.
[[nodiscard]] std::vector<ChaseSize> chase_sizes(Path path, const vulkan::DeviceFacts& facts,
                                                 bool quick);

}  // namespace gputrace::bench
