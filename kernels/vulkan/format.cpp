#include "kernels/vulkan/format.h"

#include <array>

#include "daemon/base/result.h"

namespace gputrace::vulkan {

namespace {

struct FormatRow {
  Format format;
  VkFormat vulkan;
  std::string_view name;
  std::size_t bytes;
};

constexpr std::array<FormatRow, 9> kRows{{
    {Format::kR8, VK_FORMAT_R8_UNORM, "R8", 1},
    {Format::kRgba8, VK_FORMAT_R8G8B8A8_UNORM, "RGBA8", 4},
    {Format::kR16f, VK_FORMAT_R16_SFLOAT, "R16F", 2},
    {Format::kRgba16f, VK_FORMAT_R16G16B16A16_SFLOAT, "RGBA16F", 8},
    {Format::kR11G11B10f, VK_FORMAT_B10G11R11_UFLOAT_PACK32, "R11G11B10F", 4},
    {Format::kR32ui, VK_FORMAT_R32_UINT, "R32UI", 4},
    {Format::kRg32f, VK_FORMAT_R32G32_SFLOAT, "RG32F", 8},
    {Format::kD32f, VK_FORMAT_D32_SFLOAT, "D32F", 4},
    {Format::kBc7, VK_FORMAT_BC7_UNORM_BLOCK, "BC7", 16},
}};

const FormatRow& row_of(Format format) {
  for (const FormatRow& row : kRows) {
    if (row.format == format) {
      return row;
    }
  }
  GPUTRACE_CHECK(false);
}

}  // namespace

std::size_t bytes_of(Format format) {
  return row_of(format).bytes;
}
VkFormat vulkan_format(Format format) {
  return row_of(format).vulkan;
}
std::string_view name_of(Format format) {
  return row_of(format).name;
}
bool is_depth(Format format) {
  return format == Format::kD32f;
}
std::uint32_t block_side(Format format) {
  return format == Format::kBc7 ? 4 : 1;
}

VkImageAspectFlags aspect_of(Format format) {
  return is_depth(format) ? VK_IMAGE_ASPECT_DEPTH_BIT : VK_IMAGE_ASPECT_COLOR_BIT;
}

}  // namespace gputrace::vulkan
