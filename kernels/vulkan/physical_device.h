// What the loader says of a device before it is opened.
#pragma once

#include <volk.h>

#include <cstring>
#include <string>
#include <string_view>
#include <vector>

#include "daemon/base/result.h"
#include "kernels/vulkan/device_list.h"
#include "kernels/vulkan/instance.h"

namespace gputrace::vulkan {

/// In the loader's order.
[[nodiscard]] Result<std::vector<VkPhysicalDevice>> physical_devices(
    const VulkanInstance& instance);
[[nodiscard]] std::vector<VkExtensionProperties> extensions_of(VkPhysicalDevice device);
[[nodiscard]] bool offers(const std::vector<VkExtensionProperties>& extensions,
                          std::string_view name);
[[nodiscard]] ListedDevice describe(VkPhysicalDevice device);

/// Text of a fixed array that a careless driver may have filled to the brim.
template <std::size_t N>
std::string text_of(const char (&array)[N]) {
  return std::string(array, ::strnlen(array, N));
}

}  // namespace gputrace::vulkan
