// The optional features that kernels use: asked of a device, and enabled as offered.
#pragma once

#include <volk.h>

#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

#include "kernels/vulkan/device.h"

namespace gputrace::vulkan {

/// A chain of structures that point to each other: it stays where it is.
class Features {
 public:
  explicit Features(VkPhysicalDevice device);
  Features(const Features&) = delete;
  Features& operator=(const Features&) = delete;
  ~Features() = default;

  /// For VkDeviceCreateInfo: everything that was offered and is of use.
  [[nodiscard]] const void* chain() const { return &core_; }
  [[nodiscard]] const std::vector<const char*>& extensions() const { return extensions_; }
  /// Queries can be reset without a command, for queues that know none for it.
  [[nodiscard]] bool resets_queries() const { return query_reset_.hostQueryReset != 0; }
  /// All but DeviceFacts::listed, and what a queue decides.
  [[nodiscard]] DeviceFacts facts() const;

 private:
  /// Adds a structure where the device's version or an extension has it.
  template <class Structure>
  void link(Structure& structure, VkStructureType type, std::uint32_t core_version,
            const char* extension);
  void link_ray_queries();
  void keep_what_is_used();
  void describe_dot_products(DeviceFacts& facts) const;
  void describe_subgroups(DeviceFacts& facts) const;
  void describe_matrices(DeviceFacts& facts) const;
  void describe_memory(DeviceFacts& facts) const;
  void describe_cores(DeviceFacts& facts) const;

  VkPhysicalDevice device_;
  VkPhysicalDeviceProperties properties_{};
  std::vector<VkExtensionProperties> offered_;
  std::vector<const char*> extensions_;

  VkPhysicalDeviceFeatures2 core_{};
  VkPhysicalDevice16BitStorageFeatures storage16_{};
  VkPhysicalDevice8BitStorageFeatures storage8_{};
  VkPhysicalDeviceShaderFloat16Int8Features float16_int8_{};
  VkPhysicalDeviceShaderIntegerDotProductFeatures dot_product_{};
  VkPhysicalDeviceSubgroupSizeControlFeatures subgroup_size_{};
  VkPhysicalDeviceBufferDeviceAddressFeatures address_{};
  VkPhysicalDeviceShaderAtomicInt64Features atomic64_{};
  VkPhysicalDeviceShaderAtomicFloatFeaturesEXT atomic_float_{};
  VkPhysicalDeviceVulkanMemoryModelFeatures memory_model_{};
  VkPhysicalDeviceScalarBlockLayoutFeatures scalar_layout_{};
  VkPhysicalDeviceShaderClockFeaturesKHR clock_{};
  VkPhysicalDevicePipelineExecutablePropertiesFeaturesKHR executables_{};
  VkPhysicalDeviceHostQueryResetFeatures query_reset_{};
  VkPhysicalDeviceAccelerationStructureFeaturesKHR acceleration_{};
  VkPhysicalDeviceRayQueryFeaturesKHR ray_query_{};
#ifdef VK_KHR_cooperative_matrix
  VkPhysicalDeviceCooperativeMatrixFeaturesKHR matrix_{};
#endif
};

/// Of lavapipe before Mesa 25, by VkPhysicalDeviceDriverProperties: 65,535. Absent = no limit.
[[nodiscard]] std::optional<std::uint32_t> loop_trip_limit_of(std::string_view driver,
                                                              std::string_view driver_info);

}  // namespace gputrace::vulkan
