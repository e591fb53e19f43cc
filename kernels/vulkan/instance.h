// The connection to the Vulkan loader and, through it, to every driver.
#pragma once

#include <volk.h>

#include <memory>

#include "daemon/base/result.h"

namespace gputrace::vulkan {

/// Move-only. What is made from it must be gone before it.
class VulkanInstance {
 public:
  /// Loads libvulkan.so.1. kNotFound without the loader or without any driver. Loading drivers runs
  /// their code in this process, and may wake every GPU. `validate` = with
  /// VK_LAYER_KHRONOS_validation where it is installed.
  [[nodiscard]] static Result<VulkanInstance> create(bool validate = false);

  VulkanInstance(VulkanInstance&& other) noexcept;
  VulkanInstance& operator=(VulkanInstance&& other) noexcept;
  VulkanInstance(const VulkanInstance&) = delete;
  VulkanInstance& operator=(const VulkanInstance&) = delete;
  ~VulkanInstance();

  [[nodiscard]] VkInstance handle() const noexcept { return handle_; }
  [[nodiscard]] bool validates() const noexcept { return messenger_ != VK_NULL_HANDLE; }
  /// The first error that the validation layer found since the last call; it is then forgotten.
  [[nodiscard]] Status check_validation() const;
  /// Leaves everything behind: a driver that does not come back cannot be unloaded.
  void abandon() noexcept;

 private:
  struct ValidationLog;
  VulkanInstance(VkInstance handle, std::unique_ptr<ValidationLog> log) noexcept;
  static VkBool32 VKAPI_PTR note_message(VkDebugUtilsMessageSeverityFlagBitsEXT severity,
                                         VkDebugUtilsMessageTypeFlagsEXT types,
                                         const VkDebugUtilsMessengerCallbackDataEXT* message,
                                         void* log) noexcept;
  static VkDebugUtilsMessengerCreateInfoEXT messenger_of(ValidationLog& log) noexcept;

  VkInstance handle_ = VK_NULL_HANDLE;
  VkDebugUtilsMessengerEXT messenger_ = VK_NULL_HANDLE;
  std::unique_ptr<ValidationLog> log_;
};

}  // namespace gputrace::vulkan
