// The connection to the Vulkan loader and, through it, to every driver.
#pragma once

#include <volk.h>

#include "daemon/base/result.h"

namespace gputrace::vulkan {

/// Move-only. What is made from it must be gone before it.
class VulkanInstance {
 public:
  /// Loads libvulkan.so.1. kNotFound without the loader or without any driver. Loading drivers runs
  /// their code in this process, and may wake every GPU.
  [[nodiscard]] static Result<VulkanInstance> create();

  VulkanInstance(VulkanInstance&& other) noexcept;
  VulkanInstance& operator=(VulkanInstance&& other) noexcept;
  VulkanInstance(const VulkanInstance&) = delete;
  VulkanInstance& operator=(const VulkanInstance&) = delete;
  ~VulkanInstance();

  [[nodiscard]] VkInstance handle() const noexcept { return handle_; }

 private:
  explicit VulkanInstance(VkInstance handle) noexcept : handle_(handle) {}
  VkInstance handle_ = VK_NULL_HANDLE;
};

}  // namespace gputrace::vulkan
