// Texels as the formats of images hold them.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>

#include "kernels/vulkan/image.h"

namespace gputrace::bench {

/// "rgba8", as it stands in ids.
[[nodiscard]] std::string_view id_of(vulkan::Format format);
/// "RGBA8".
[[nodiscard]] std::string_view name_of(vulkan::Format format);

struct Components {
  std::size_t count = 0;
  std::array<double, 4> values{};
  /// How far a value may be off that was rounded to the format in any direction.
  std::array<double, 4> steps{};
};

/// The texel at the begin of `bytes`, of a format that targets have: not integers, not blocks.
[[nodiscard]] Components decode_texel(vulkan::Format format, std::span<const std::byte> bytes);

/// IEEE 754 binary16; of finite numbers.
[[nodiscard]] double half_to_double(std::uint16_t bits);

}  // namespace gputrace::bench
