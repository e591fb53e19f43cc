// Our formats in Vulkan's terms.
#pragma once

#include <volk.h>

#include <string_view>

#include "kernels/vulkan/image.h"

namespace gputrace::vulkan {

[[nodiscard]] VkFormat vulkan_format(Format format);
[[nodiscard]] std::string_view name_of(Format format);
[[nodiscard]] bool is_depth(Format format);
/// Texels on a side of what bytes_of() counts: 4 for kBc7, else 1.
[[nodiscard]] std::uint32_t block_side(Format format);
[[nodiscard]] VkImageAspectFlags aspect_of(Format format);

}  // namespace gputrace::vulkan
