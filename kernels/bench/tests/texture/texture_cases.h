// The kernels of `bench texture`: full-screen triangles whose pixels fetch texels of noise.
#pragma once

#include <cstdint>
#include <string_view>

#include "kernels/bench/kernel_case.h"

namespace gputrace::bench {

/// kHash has all of kRandom but the fetches: the cost of its coordinates.
enum class TextureAccess { kCoherent, kRandom, kHash };

struct TextureShape {
  vulkan::Format format = vulkan::Format::kRgba8;  ///< or R16F, BC7
  std::uint32_t side = 0;                          ///< texels; a power of two, at least 4
  bool bilinear = false;  ///< each fetch lies between four texels, else in the middle of one
  TextureAccess access = TextureAccess::kCoherent;
  std::uint32_t fetches = 1;  ///< a pixel and trip: 1, 2, 4, 8 or 16
  std::uint32_t target_side = 0;
};

/// "coherent", "random", "hash".
[[nodiscard]] std::string_view name_of(TextureAccess access);

[[nodiscard]] KernelCase texture_case(const TextureShape& shape);

/// Fetches of one submission; of kHash, the places that were computed.
[[nodiscard]] double fetches_of(const KernelCase& kernel, const Launch& launch);

}  // namespace gputrace::bench
