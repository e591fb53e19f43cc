#include "kernels/vulkan/features.h"

#include <algorithm>
#include <bit>
#include <charconv>
#include <cmath>
#include <string>
#include <thread>

#include "kernels/vulkan/memory.h"
#include "kernels/vulkan/physical_device.h"

namespace gputrace::vulkan {

template <class Structure>
void Features::link(Structure& structure, VkStructureType type, std::uint32_t core_version,
                    const char* extension) {
  const bool in_core = core_version != 0 && properties_.apiVersion >= core_version;
  if (!in_core) {
    if (!offers(offered_, extension)) {
      return;
    }
    extensions_.push_back(extension);
  }
  structure.sType = type;
  structure.pNext = core_.pNext;
  core_.pNext = &structure;
}

Features::Features(VkPhysicalDevice device) : device_(device), offered_(extensions_of(device)) {
  vkGetPhysicalDeviceProperties(device, &properties_);
  core_.sType = VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_FEATURES_2;
  link(storage16_, VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_16BIT_STORAGE_FEATURES, VK_API_VERSION_1_1,
       VK_KHR_16BIT_STORAGE_EXTENSION_NAME);
  link(storage8_, VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_8BIT_STORAGE_FEATURES, VK_API_VERSION_1_2,
       VK_KHR_8BIT_STORAGE_EXTENSION_NAME);
  link(float16_int8_, VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_SHADER_FLOAT16_INT8_FEATURES,
       VK_API_VERSION_1_2, VK_KHR_SHADER_FLOAT16_INT8_EXTENSION_NAME);
  link(dot_product_, VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_SHADER_INTEGER_DOT_PRODUCT_FEATURES,
       VK_API_VERSION_1_3, VK_KHR_SHADER_INTEGER_DOT_PRODUCT_EXTENSION_NAME);
  link(subgroup_size_, VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_SUBGROUP_SIZE_CONTROL_FEATURES,
       VK_API_VERSION_1_3, VK_EXT_SUBGROUP_SIZE_CONTROL_EXTENSION_NAME);
  link(address_, VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_BUFFER_DEVICE_ADDRESS_FEATURES,
       VK_API_VERSION_1_2, VK_KHR_BUFFER_DEVICE_ADDRESS_EXTENSION_NAME);
  link(atomic64_, VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_SHADER_ATOMIC_INT64_FEATURES,
       VK_API_VERSION_1_2, VK_KHR_SHADER_ATOMIC_INT64_EXTENSION_NAME);
  link(atomic_float_, VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_SHADER_ATOMIC_FLOAT_FEATURES_EXT, 0,
       VK_EXT_SHADER_ATOMIC_FLOAT_EXTENSION_NAME);
  link(memory_model_, VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_VULKAN_MEMORY_MODEL_FEATURES,
       VK_API_VERSION_1_2, VK_KHR_VULKAN_MEMORY_MODEL_EXTENSION_NAME);
  link(scalar_layout_, VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_SCALAR_BLOCK_LAYOUT_FEATURES,
       VK_API_VERSION_1_2, VK_EXT_SCALAR_BLOCK_LAYOUT_EXTENSION_NAME);
  link(clock_, VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_SHADER_CLOCK_FEATURES_KHR, 0,
       VK_KHR_SHADER_CLOCK_EXTENSION_NAME);
  link(executables_, VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_PIPELINE_EXECUTABLE_PROPERTIES_FEATURES_KHR,
       0, VK_KHR_PIPELINE_EXECUTABLE_PROPERTIES_EXTENSION_NAME);
  link(query_reset_, VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_HOST_QUERY_RESET_FEATURES,
       VK_API_VERSION_1_2, VK_EXT_HOST_QUERY_RESET_EXTENSION_NAME);
  if (offers(offered_, VK_EXT_EXTERNAL_MEMORY_HOST_EXTENSION_NAME)) {
    extensions_.push_back(VK_EXT_EXTERNAL_MEMORY_HOST_EXTENSION_NAME);
  }
#ifdef VK_KHR_cooperative_matrix
  link(matrix_, VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_COOPERATIVE_MATRIX_FEATURES_KHR, 0,
       VK_KHR_COOPERATIVE_MATRIX_EXTENSION_NAME);
#endif
  link_ray_queries();
  vkGetPhysicalDeviceFeatures2(device, &core_);
  keep_what_is_used();
}

/// Drivers with ray queries know Vulkan 1.2, where most of what these need is in the core.
void Features::link_ray_queries() {
  if (properties_.apiVersion < VK_API_VERSION_1_2 ||
      !offers(offered_, VK_KHR_RAY_QUERY_EXTENSION_NAME) ||
      !offers(offered_, VK_KHR_ACCELERATION_STRUCTURE_EXTENSION_NAME) ||
      !offers(offered_, VK_KHR_DEFERRED_HOST_OPERATIONS_EXTENSION_NAME)) {
    return;
  }
  extensions_.push_back(VK_KHR_DEFERRED_HOST_OPERATIONS_EXTENSION_NAME);
  link(acceleration_, VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_ACCELERATION_STRUCTURE_FEATURES_KHR, 0,
       VK_KHR_ACCELERATION_STRUCTURE_EXTENSION_NAME);
  link(ray_query_, VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_RAY_QUERY_FEATURES_KHR, 0,
       VK_KHR_RAY_QUERY_EXTENSION_NAME);
}

void Features::keep_what_is_used() {
  const VkPhysicalDeviceFeatures offered = core_.features;
  core_.features = {};
  core_.features.shaderFloat64 = offered.shaderFloat64;
  core_.features.shaderInt64 = offered.shaderInt64;
  core_.features.shaderInt16 = offered.shaderInt16;
  core_.features.textureCompressionBC = offered.textureCompressionBC;
  core_.features.pipelineStatisticsQuery = offered.pipelineStatisticsQuery;
  // For tools that replay, and for several GPUs as one: they cost address space or are refused.
  address_.bufferDeviceAddressCaptureReplay = VK_FALSE;
  address_.bufferDeviceAddressMultiDevice = VK_FALSE;
  acceleration_.accelerationStructureCaptureReplay = VK_FALSE;
  acceleration_.accelerationStructureIndirectBuild = VK_FALSE;
  acceleration_.accelerationStructureHostCommands = VK_FALSE;
  acceleration_.descriptorBindingAccelerationStructureUpdateAfterBind = VK_FALSE;
}

DeviceFacts Features::facts() const {
  DeviceFacts facts;
  facts.is_cpu = properties_.deviceType == VK_PHYSICAL_DEVICE_TYPE_CPU;
  facts.storage16 = storage16_.storageBuffer16BitAccess != 0;
  facts.fp16 = float16_int8_.shaderFloat16 != 0 && storage16_.storageBuffer16BitAccess != 0;
  facts.fp64 = core_.features.shaderFloat64 != 0;
  facts.int16 = core_.features.shaderInt16 != 0 && storage16_.storageBuffer16BitAccess != 0;
  facts.int64 = core_.features.shaderInt64 != 0;
  facts.buffer_addresses = address_.bufferDeviceAddress != 0;
  facts.int64_atomics = facts.int64 && atomic64_.shaderBufferInt64Atomics != 0;
  facts.float_atomics = atomic_float_.shaderBufferFloat32AtomicAdd != 0;
  facts.shared_float_atomics = atomic_float_.shaderSharedFloat32AtomicAdd != 0;
  facts.executable_properties = executables_.pipelineExecutableInfo != 0;
  facts.pipeline_statistics = core_.features.pipelineStatisticsQuery != 0;
  facts.bc_textures = core_.features.textureCompressionBC != 0;
  facts.shader_clock = clock_.shaderSubgroupClock != 0;
  facts.ray_query = ray_query_.rayQuery != 0 && acceleration_.accelerationStructure != 0 &&
                    facts.buffer_addresses;

  const VkPhysicalDeviceLimits& limits = properties_.limits;
  facts.max_groups_x = limits.maxComputeWorkGroupCount[0];
  facts.max_group_threads =
      std::min(limits.maxComputeWorkGroupInvocations, limits.maxComputeWorkGroupSize[0]);
  facts.max_shared_bytes = limits.maxComputeSharedMemorySize;
  facts.max_storage_range = limits.maxStorageBufferRange;
  facts.max_uniform_range = limits.maxUniformBufferRange;
  facts.max_texel_elements = limits.maxTexelBufferElements;
  facts.max_image_side = limits.maxImageDimension2D;
  if (std::isfinite(limits.timestampPeriod) && limits.timestampPeriod > 0) {
    facts.timestamp_period_ns = static_cast<double>(limits.timestampPeriod);
  }
  describe_memory(facts);
  describe_dot_products(facts);
  describe_subgroups(facts);
  describe_matrices(facts);
  describe_cores(facts);
  return facts;
}

void Features::describe_memory(DeviceFacts& facts) const {
  VkPhysicalDeviceMemoryProperties memory{};
  vkGetPhysicalDeviceMemoryProperties(device_, &memory);
  facts.is_null_device = memory.memoryHeapCount == 0;
  for (std::uint32_t i = 0; i < memory.memoryHeapCount; ++i) {
    const VkMemoryHeap& heap = memory.memoryHeaps[i];
    if ((heap.flags & VK_MEMORY_HEAP_DEVICE_LOCAL_BIT) != 0) {
      facts.memory_bytes = std::max(facts.memory_bytes, heap.size);
    }
  }
  if (facts.is_null_device) {
    return;
  }
  facts.memory_kinds = memory_kinds_of(memory);
  if (!offers(offered_, VK_EXT_EXTERNAL_MEMORY_HOST_EXTENSION_NAME)) {
    return;
  }
  VkPhysicalDeviceExternalMemoryHostPropertiesEXT host{};
  host.sType = VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_EXTERNAL_MEMORY_HOST_PROPERTIES_EXT;
  VkPhysicalDeviceProperties2 all{};
  all.sType = VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_PROPERTIES_2;
  all.pNext = &host;
  vkGetPhysicalDeviceProperties2(device_, &all);
  if (std::has_single_bit(host.minImportedHostPointerAlignment)) {
    facts.host_import_alignment = host.minImportedHostPointerAlignment;
  }
}

void Features::describe_dot_products(DeviceFacts& facts) const {
  if (dot_product_.shaderIntegerDotProduct == 0) {
    return;
  }
  VkPhysicalDeviceShaderIntegerDotProductProperties dot_product{};
  dot_product.sType = VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_SHADER_INTEGER_DOT_PRODUCT_PROPERTIES;
  VkPhysicalDeviceProperties2 all{};
  all.sType = VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_PROPERTIES_2;
  all.pNext = &dot_product;
  vkGetPhysicalDeviceProperties2(device_, &all);
  facts.int8_dot =
      facts.is_cpu || dot_product.integerDotProduct4x8BitPackedSignedAccelerated != VK_FALSE;
}

void Features::describe_subgroups(DeviceFacts& facts) const {
  VkPhysicalDeviceProperties2 all{};
  all.sType = VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_PROPERTIES_2;
  VkPhysicalDeviceSubgroupProperties subgroup{};
  subgroup.sType = VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_SUBGROUP_PROPERTIES;
  all.pNext = &subgroup;
  VkPhysicalDeviceSubgroupSizeControlProperties sizes{};
  sizes.sType = VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_SUBGROUP_SIZE_CONTROL_PROPERTIES;
  if (subgroup_size_.subgroupSizeControl != 0) {
    subgroup.pNext = &sizes;
  }
  vkGetPhysicalDeviceProperties2(device_, &all);
  facts.subgroup_size = subgroup.subgroupSize;
  if ((sizes.requiredSubgroupSizeStages & VK_SHADER_STAGE_COMPUTE_BIT) == 0) {
    return;
  }
  // Powers of two (vkspec, VkPhysicalDeviceSubgroupSizeControlProperties), at most 128 in spec.
  for (std::uint32_t size = std::max(sizes.minSubgroupSize, 1U);
       size <= std::min(sizes.maxSubgroupSize, 1024U); size *= 2) {
    facts.subgroup_sizes.push_back(size);
  }
}

void Features::describe_cores(DeviceFacts& facts) const {
  if (facts.is_cpu) {
    facts.cores = std::max(std::thread::hardware_concurrency(), 1U);
    return;
  }
  VkPhysicalDeviceProperties2 all{};
  all.sType = VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_PROPERTIES_2;
  VkPhysicalDeviceShaderCorePropertiesAMD amd{};
  amd.sType = VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_SHADER_CORE_PROPERTIES_AMD;
  VkPhysicalDeviceShaderCoreProperties2AMD active{};
  active.sType = VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_SHADER_CORE_PROPERTIES_2_AMD;
  VkPhysicalDeviceShaderSMBuiltinsPropertiesNV nvidia{};
  nvidia.sType = VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_SHADER_SM_BUILTINS_PROPERTIES_NV;
  const auto ask = [&](auto& structure, const char* extension) {
    if (offers(offered_, extension)) {
      structure.pNext = all.pNext;
      all.pNext = &structure;
    }
  };
  ask(amd, VK_AMD_SHADER_CORE_PROPERTIES_EXTENSION_NAME);
  ask(active, VK_AMD_SHADER_CORE_PROPERTIES_2_EXTENSION_NAME);
  ask(nvidia, VK_NV_SHADER_SM_BUILTINS_EXTENSION_NAME);
  vkGetPhysicalDeviceProperties2(device_, &all);
  const std::uint32_t of_arrays =
      amd.shaderEngineCount * amd.shaderArraysPerEngineCount * amd.computeUnitsPerShaderArray;
  // The product counts units that are switched off.
  for (const std::uint32_t cores :
       {active.activeComputeUnitCount, of_arrays, nvidia.shaderSMCount}) {
    if (cores != 0 && !facts.cores) {
      facts.cores = cores;
    }
  }
}

void Features::describe_matrices([[maybe_unused]] DeviceFacts& facts) const {
#ifdef VK_KHR_cooperative_matrix
  if (matrix_.cooperativeMatrix == 0 || !facts.fp16 || memory_model_.vulkanMemoryModel == 0 ||
      vkGetPhysicalDeviceCooperativeMatrixPropertiesKHR == nullptr) {
    return;
  }
  std::uint32_t count = 0;
  if (vkGetPhysicalDeviceCooperativeMatrixPropertiesKHR(device_, &count, nullptr) != VK_SUCCESS) {
    return;
  }
  VkCooperativeMatrixPropertiesKHR empty{};
  empty.sType = VK_STRUCTURE_TYPE_COOPERATIVE_MATRIX_PROPERTIES_KHR;
  std::vector<VkCooperativeMatrixPropertiesKHR> shapes(count, empty);
  const VkResult result =
      vkGetPhysicalDeviceCooperativeMatrixPropertiesKHR(device_, &count, shapes.data());
  shapes.resize(result == VK_SUCCESS || result == VK_INCOMPLETE ? count : 0);
  for (const VkCooperativeMatrixPropertiesKHR& shape : shapes) {
    const bool takes_fp16 = shape.AType == VK_COMPONENT_TYPE_FLOAT16_KHR &&
                            shape.BType == VK_COMPONENT_TYPE_FLOAT16_KHR &&
                            shape.scope == VK_SCOPE_SUBGROUP_KHR;
    const bool gives_fp32 = shape.ResultType == VK_COMPONENT_TYPE_FLOAT32_KHR;
    if (takes_fp16 && shape.CType == shape.ResultType &&
        (gives_fp32 || shape.ResultType == VK_COMPONENT_TYPE_FLOAT16_KHR)) {
      facts.matrix_shapes.push_back(
          {.m = shape.MSize, .n = shape.NSize, .k = shape.KSize, .accumulates_fp32 = gives_fp32});
    }
  }
#endif
}

std::optional<std::uint32_t> loop_trip_limit_of(std::string_view driver,
                                                std::string_view driver_info) {
  constexpr std::string_view kMesa = "Mesa ";
  constexpr std::uint32_t kLimit = 65'535;
  if (driver != "llvmpipe" && driver != "lavapipe") {
    return std::nullopt;
  }
  int major = 0;
  const std::size_t at = driver_info.find(kMesa);
  if (at != std::string_view::npos) {
    const std::string_view number = driver_info.substr(at + kMesa.size());
    std::from_chars(number.data(), number.data() + number.size(), major);
  }
  // An unknown version is taken for an old one: that costs time and never a wrong result.
  return major >= 25 ? std::nullopt : std::optional(kLimit);
}

}  // namespace gputrace::vulkan
