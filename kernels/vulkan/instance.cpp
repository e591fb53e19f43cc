#include "kernels/vulkan/instance.h"

#include <utility>

#include "kernels/vulkan/vulkan_error.h"

namespace gputrace::vulkan {

Result<VulkanInstance> VulkanInstance::create() {
  if (volkInitialize() != VK_SUCCESS) {
    return fail(ErrorCode::kNotFound,
                "the Vulkan loader (libvulkan.so.1) is not installed, or does not load");
  }
  if (volkGetInstanceVersion() < VK_API_VERSION_1_1) {
    return fail(ErrorCode::kUnsupported, "the Vulkan loader is older than Vulkan 1.1");
  }
  VkApplicationInfo application{};
  application.sType = VK_STRUCTURE_TYPE_APPLICATION_INFO;
  application.pApplicationName = "gputrace";
  // The most that is used; drivers may know less (vkspec, VkApplicationInfo).
  application.apiVersion = VK_API_VERSION_1_3;
  VkInstanceCreateInfo wanted{};
  wanted.sType = VK_STRUCTURE_TYPE_INSTANCE_CREATE_INFO;
  wanted.pApplicationInfo = &application;
  VkInstance handle = VK_NULL_HANDLE;
  if (const VkResult result = vkCreateInstance(&wanted, nullptr, &handle); result != VK_SUCCESS) {
    return fail_vulkan(result, "cannot create a Vulkan instance");
  }
  volkLoadInstanceOnly(handle);
  return VulkanInstance(handle);
}

VulkanInstance::VulkanInstance(VulkanInstance&& other) noexcept
    : handle_(std::exchange(other.handle_, VK_NULL_HANDLE)) {}

VulkanInstance& VulkanInstance::operator=(VulkanInstance&& other) noexcept {
  std::swap(handle_, other.handle_);
  return *this;
}

VulkanInstance::~VulkanInstance() {
  if (handle_ != VK_NULL_HANDLE) {
    vkDestroyInstance(handle_, nullptr);
  }
}

}  // namespace gputrace::vulkan
