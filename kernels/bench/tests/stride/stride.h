// `bench stride`: ns from a load to the next by working set and by how far the places lie apart.
// Levels of caches have lines, those of address translation pages: their knees move differently.
#pragma once

#include <cstdint>
#include <vector>

#include "kernels/bench/bench_test.h"

namespace gputrace::bench {

/// stride.plain, with every place at the same offset of its stride, and stride.jittered, with the
/// line within each stride drawn.
[[nodiscard]] std::vector<analysis::TestResult> run_stride(TestContext& context);
[[nodiscard]] std::vector<KernelCase> stride_cases(const vulkan::DeviceFacts& facts);

struct StridePoint {
  std::uint64_t stride_bytes = 0;
  std::uint64_t bytes = 0;  ///< of the working set: places times the stride
  bool jittered = false;
  unsigned rank = 0;
};

/// Strides of 16 B to 2 MiB and sets of 16 KiB to 64 MiB, within ranges and a part of the memory.
[[nodiscard]] std::vector<StridePoint> stride_points(const vulkan::DeviceFacts& facts, bool quick);

}  // namespace gputrace::bench
