// Draws, vertices, primitives and the rasteriser: when each bundle of quads of a pixel pass is
// ready for the shader.
#pragma once

#include <vector>

#include "daemon/simulated_gpu/network.h"

namespace gputrace::simulated_gpu {

struct FrontEndResult {
  std::vector<double> rastered_ns;  ///< of each bundle
  std::vector<float> cost;          ///< of each bundle: factor of its draw on the SIMD time
  double primitives_done_ns = 0;
  double commands_done_ns = 0;
};

/// `bundles` groups of the pass's group_threads pixels. Vertices use the network as it stands at
/// `start_ns`: they overtake pixels, which is how hardware orders them.
[[nodiscard]] FrontEndResult run_front_end(Network& network, const Pass& pass, double start_ns,
                                           int bundles, double flops_per_clk_cu);

}  // namespace gputrace::simulated_gpu
