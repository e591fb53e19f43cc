// The roofline of the Radeon 780M article: load a vec4, N FMAs, store a vec4, in the two shapes
// that its figures can come from.
#pragma once

#include <cstdint>
#include <vector>

#include "kernels/bench/cases/sized_case.h"
#include "kernels/vulkan/device.h"

namespace gputrace::bench {

struct ArticleCase {
  SizedCase sized;
  std::uint32_t fmas = 0;    ///< N: of each number of a chain
  std::uint32_t chains = 0;  ///< 1 or 4 of vec4
  /// FLOP/B as the article counts: one chain of vec4 whatever the shape, N / 4.
  double label_intensity = 0;
  /// A thread's FLOPs by that count. What the code does is KernelCase::flops_once.
  double label_flops = 0;
};

/// N of its table, 1 to 512.
[[nodiscard]] std::vector<std::uint32_t> article_fmas();

/// "article.n64.chains4". N is a specialization constant and the loop is unrolled, as there: the
/// code grows with N, beyond the instruction cache. `bytes` are those read, and as many are
/// written.
[[nodiscard]] ArticleCase article_case(const vulkan::DeviceFacts& facts, std::uint32_t fmas,
                                       std::uint32_t chains, std::uint64_t bytes);

}  // namespace gputrace::bench
