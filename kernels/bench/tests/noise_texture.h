// Textures of noise, which no compressor makes smaller, and what their texels are worth.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "kernels/vulkan/image.h"

namespace gputrace::bench {

/// A square of `side` texels, for Device::create_texture(); RGBA8, R16F or BC7, whose blocks are
/// of mode 6: one subset, 7 bits an end point, 4 bits an index (Khronos Data Format, BPTC).
[[nodiscard]] std::vector<std::byte> noise_texels(vulkan::Format format, std::uint32_t side);

/// The texel at (x, y) of that square, which repeats.
[[nodiscard]] std::array<double, 4> noise_texel(vulkan::Format format, std::uint32_t side,
                                                std::uint32_t x, std::uint32_t y);

/// Bytes of the square.
[[nodiscard]] std::uint64_t noise_bytes(vulkan::Format format, std::uint32_t side);

}  // namespace gputrace::bench
