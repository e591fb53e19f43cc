// Which pixels of a target are compared with the CPU.
#pragma once

#include <cstdint>
#include <utility>
#include <vector>

#include "kernels/vulkan/image.h"

namespace gputrace::bench {

/// (x, y): the corners, and others drawn at random, the same ones each time.
[[nodiscard]] std::vector<std::pair<std::uint32_t, std::uint32_t>> sampled_pixels(
    const vulkan::TargetDescription& target);

}  // namespace gputrace::bench
