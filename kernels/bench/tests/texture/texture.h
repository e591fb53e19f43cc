// `bench texture`: texels a second by fetches, by the size of the texture, and at random places.
#pragma once

#include <vector>

#include "kernels/bench/bench_test.h"
#include "kernels/bench/tests/texture/texture_cases.h"

namespace gputrace::bench {

/// GTexel/s, one texel a fetch, whatever a filter reads: "texture.fetches" by fetches a pixel and
/// "texture.coherent" by the texture's side, of neighbouring texels; "texture.random" by its side;
/// "texture.hash", random places computed and nothing fetched. Derived: "....peak", and
/// "texture.random.hash.1024": which part of the time of random fetches the hash alone takes, %.
[[nodiscard]] std::vector<analysis::TestResult> run_texture(TestContext& context);
[[nodiscard]] std::vector<KernelCase> texture_cases(const vulkan::DeviceFacts& facts);

/// Sides of the textures, ascending.
[[nodiscard]] std::vector<std::uint32_t> texture_sides(const vulkan::DeviceFacts& facts,
                                                       bool quick);

/// Of the target: all of a texture is seen, and there are enough pixels to fill the GPU. Smaller
/// where rasterisers unpack BC7 anew for each fetch.
[[nodiscard]] std::uint32_t texture_target_side(const vulkan::DeviceFacts& facts,
                                                const TextureShape& shape);

}  // namespace gputrace::bench
