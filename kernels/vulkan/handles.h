// Owners of Vulkan objects: each is destroyed once, on every path.
#pragma once

#include <volk.h>

#include <string_view>
#include <utility>

#include "daemon/base/result.h"
#include "kernels/vulkan/instance.h"
#include "kernels/vulkan/vulkan_error.h"

namespace gputrace::vulkan {

/// What every object of a device needs. It stays where it is: owners point to it.
struct Context {
  explicit Context(VulkanInstance its_instance) : instance(std::move(its_instance)) {}
  Context(const Context&) = delete;
  Context& operator=(const Context&) = delete;
  ~Context() {
    if (abandoned) {
      instance.abandon();
    } else if (device != VK_NULL_HANDLE) {
      table.vkDestroyDevice(device, nullptr);
    }
  }

  VulkanInstance instance;
  VkPhysicalDevice physical = VK_NULL_HANDLE;
  VkDevice device = VK_NULL_HANDLE;
  VolkDeviceTable table{};
  VkPhysicalDeviceMemoryProperties memory{};
  /// The GPU still works on something and does not end: nothing may be destroyed any more.
  bool abandoned = false;
};

/// `Create` and `Destroy` are members of VolkDeviceTable: volk's own functions are variables, which
/// no template can take.
template <class Handle, auto Create, auto Destroy>
class Owned {
 public:
  Owned() = default;
  Owned(const Context& context, Handle handle) noexcept : context_(&context), handle_(handle) {}
  Owned(Owned&& other) noexcept
      : context_(other.context_), handle_(std::exchange(other.handle_, VK_NULL_HANDLE)) {}
  Owned& operator=(Owned&& other) noexcept {
    std::swap(context_, other.context_);
    std::swap(handle_, other.handle_);
    return *this;
  }
  Owned(const Owned&) = delete;
  Owned& operator=(const Owned&) = delete;
  ~Owned() {
    if (handle_ != VK_NULL_HANDLE && !context_->abandoned) {
      (context_->table.*Destroy)(context_->device, handle_, nullptr);
    }
  }

  /// `what` begins the error: "cannot make a buffer".
  template <class CreateInfo>
  [[nodiscard]] static Result<Owned> create(const Context& context, const CreateInfo& wanted,
                                            std::string_view what) {
    Handle handle = VK_NULL_HANDLE;
    const VkResult result = (context.table.*Create)(context.device, &wanted, nullptr, &handle);
    if (result != VK_SUCCESS) {
      return fail_vulkan(result, what);
    }
    return Owned(context, handle);
  }

  [[nodiscard]] Handle get() const noexcept { return handle_; }

 private:
  const Context* context_ = nullptr;
  Handle handle_ = VK_NULL_HANDLE;
};

using Table = VolkDeviceTable;
using OwnedMemory = Owned<VkDeviceMemory, &Table::vkAllocateMemory, &Table::vkFreeMemory>;
using OwnedBuffer = Owned<VkBuffer, &Table::vkCreateBuffer, &Table::vkDestroyBuffer>;
using OwnedBufferView =
    Owned<VkBufferView, &Table::vkCreateBufferView, &Table::vkDestroyBufferView>;
using OwnedImage = Owned<VkImage, &Table::vkCreateImage, &Table::vkDestroyImage>;
using OwnedImageView = Owned<VkImageView, &Table::vkCreateImageView, &Table::vkDestroyImageView>;
using OwnedSampler = Owned<VkSampler, &Table::vkCreateSampler, &Table::vkDestroySampler>;
using OwnedShader =
    Owned<VkShaderModule, &Table::vkCreateShaderModule, &Table::vkDestroyShaderModule>;
using OwnedSetLayout = Owned<VkDescriptorSetLayout, &Table::vkCreateDescriptorSetLayout,
                             &Table::vkDestroyDescriptorSetLayout>;
using OwnedPipelineLayout =
    Owned<VkPipelineLayout, &Table::vkCreatePipelineLayout, &Table::vkDestroyPipelineLayout>;
using OwnedDescriptorPool =
    Owned<VkDescriptorPool, &Table::vkCreateDescriptorPool, &Table::vkDestroyDescriptorPool>;
/// Pipelines are made several at a time, so not by create().
using OwnedPipeline = Owned<VkPipeline, nullptr, &Table::vkDestroyPipeline>;
using OwnedRenderPass =
    Owned<VkRenderPass, &Table::vkCreateRenderPass, &Table::vkDestroyRenderPass>;
using OwnedFramebuffer =
    Owned<VkFramebuffer, &Table::vkCreateFramebuffer, &Table::vkDestroyFramebuffer>;
using OwnedCommandPool =
    Owned<VkCommandPool, &Table::vkCreateCommandPool, &Table::vkDestroyCommandPool>;
using OwnedQueryPool = Owned<VkQueryPool, &Table::vkCreateQueryPool, &Table::vkDestroyQueryPool>;
using OwnedAccelerationStructure =
    Owned<VkAccelerationStructureKHR, &Table::vkCreateAccelerationStructureKHR,
          &Table::vkDestroyAccelerationStructureKHR>;
using OwnedFence = Owned<VkFence, &Table::vkCreateFence, &Table::vkDestroyFence>;

}  // namespace gputrace::vulkan
