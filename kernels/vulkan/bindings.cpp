#include "kernels/vulkan/bindings.h"

#include <algorithm>
#include <array>
#include <cstdint>
#include <utility>

#include "kernels/vulkan/pipeline.h"

namespace gputrace::vulkan {

namespace {

/// Of every device; those with ray queries have one more.
constexpr std::uint32_t kBindings = kImageBinding + 1;

VkDescriptorType type_of(std::uint32_t binding) {
  switch (binding) {
    case kUniformBinding:
      return VK_DESCRIPTOR_TYPE_UNIFORM_BUFFER;
    case kTexelBinding:
      return VK_DESCRIPTOR_TYPE_UNIFORM_TEXEL_BUFFER;
    case kImageBinding:
      return VK_DESCRIPTOR_TYPE_COMBINED_IMAGE_SAMPLER;
    case kSceneBinding:
      return VK_DESCRIPTOR_TYPE_ACCELERATION_STRUCTURE_KHR;
    default:
      return VK_DESCRIPTOR_TYPE_STORAGE_BUFFER;
  }
}

}  // namespace

Result<SharedLayout> SharedLayout::create(const Context& context, bool has_scene) {
  std::array<VkDescriptorSetLayoutBinding, kSceneBinding + 1> bindings{};
  for (std::uint32_t i = 0; i < bindings.size(); ++i) {
    bindings[i].binding = i;
    bindings[i].descriptorType = type_of(i);
    bindings[i].descriptorCount = 1;
    bindings[i].stageFlags = VK_SHADER_STAGE_COMPUTE_BIT | VK_SHADER_STAGE_FRAGMENT_BIT;
  }
  VkDescriptorSetLayoutCreateInfo set_info{};
  set_info.sType = VK_STRUCTURE_TYPE_DESCRIPTOR_SET_LAYOUT_CREATE_INFO;
  set_info.bindingCount = has_scene ? kSceneBinding + 1 : kBindings;
  set_info.pBindings = bindings.data();
  auto set = OwnedSetLayout::create(context, set_info, "cannot make a descriptor set layout");
  if (!set) {
    return tl::unexpected(set.error());
  }
  const VkDescriptorSetLayout set_handle = set->get();
  const VkPushConstantRange push{kPushStages, 0, kPushBytes};
  VkPipelineLayoutCreateInfo pipeline_info{};
  pipeline_info.sType = VK_STRUCTURE_TYPE_PIPELINE_LAYOUT_CREATE_INFO;
  pipeline_info.setLayoutCount = 1;
  pipeline_info.pSetLayouts = &set_handle;
  pipeline_info.pushConstantRangeCount = 1;
  pipeline_info.pPushConstantRanges = &push;
  auto pipeline =
      OwnedPipelineLayout::create(context, pipeline_info, "cannot make a pipeline layout");
  if (!pipeline) {
    return tl::unexpected(pipeline.error());
  }
  return SharedLayout{
      .set = std::move(*set), .pipeline = std::move(*pipeline), .has_scene = has_scene};
}

Result<DescriptorSets> DescriptorSets::create(const Context& context, const SharedLayout& layout) {
  DescriptorSets sets(context, layout);
  constexpr std::size_t kUsual = 16;
  if (const Status made = sets.begin(kUsual); !made) {
    return tl::unexpected(made.error());
  }
  return sets;
}

Status DescriptorSets::begin(std::size_t count) {
  if (count <= capacity_) {
    const VkResult result = context_->table.vkResetDescriptorPool(context_->device, pool_.get(), 0);
    if (result != VK_SUCCESS) {
      return fail_vulkan(result, "cannot reuse descriptor sets");
    }
    return {};
  }
  const auto sets = static_cast<std::uint32_t>(count);
  const std::array<VkDescriptorPoolSize, 5> sizes{{
      {type_of(0), sets * kStorageBindings},
      {type_of(kUniformBinding), sets},
      {type_of(kTexelBinding), sets},
      {type_of(kImageBinding), sets},
      {type_of(kSceneBinding), sets},
  }};
  VkDescriptorPoolCreateInfo info{};
  info.sType = VK_STRUCTURE_TYPE_DESCRIPTOR_POOL_CREATE_INFO;
  info.maxSets = sets;
  info.poolSizeCount = static_cast<std::uint32_t>(sizes.size()) - (has_scene_ ? 0 : 1);
  info.pPoolSizes = sizes.data();
  auto pool = OwnedDescriptorPool::create(*context_, info, "cannot make a descriptor pool");
  if (!pool) {
    return tl::unexpected(pool.error());
  }
  pool_ = std::move(*pool);
  capacity_ = count;
  return {};
}

Result<VkDescriptorSet> DescriptorSets::make(const BoundHandles& bound) {
  VkDescriptorSetAllocateInfo info{};
  info.sType = VK_STRUCTURE_TYPE_DESCRIPTOR_SET_ALLOCATE_INFO;
  info.descriptorPool = pool_.get();
  info.descriptorSetCount = 1;
  info.pSetLayouts = &layout_;
  VkDescriptorSet set = VK_NULL_HANDLE;
  const VkResult result = context_->table.vkAllocateDescriptorSets(context_->device, &info, &set);
  if (result != VK_SUCCESS) {
    return fail_vulkan(result, "cannot make a descriptor set");
  }
  std::array<VkWriteDescriptorSet, kSceneBinding + 1> writes{};
  for (std::uint32_t i = 0; i < writes.size(); ++i) {
    writes[i].sType = VK_STRUCTURE_TYPE_WRITE_DESCRIPTOR_SET;
    writes[i].dstSet = set;
    writes[i].dstBinding = i;
    writes[i].descriptorCount = 1;
    writes[i].descriptorType = type_of(i);
    if (i < bound.buffers.size()) {
      writes[i].pBufferInfo = &bound.buffers[i];
    }
  }
  writes[kTexelBinding].pTexelBufferView = &bound.texel;
  writes[kImageBinding].pImageInfo = &bound.image;
  VkWriteDescriptorSetAccelerationStructureKHR scene{};
  scene.sType = VK_STRUCTURE_TYPE_WRITE_DESCRIPTOR_SET_ACCELERATION_STRUCTURE_KHR;
  scene.accelerationStructureCount = 1;
  scene.pAccelerationStructures = &bound.scene;
  writes[kSceneBinding].pNext = &scene;
  context_->table.vkUpdateDescriptorSets(
      context_->device, bound.scene != VK_NULL_HANDLE ? kSceneBinding + 1 : kBindings,
      writes.data(), 0, nullptr);
  return set;
}

}  // namespace gputrace::vulkan
