// The layout that all shaders share, and descriptor sets of it.
#pragma once

#include <array>
#include <cstddef>
#include <vector>

#include "daemon/base/result.h"
#include "kernels/vulkan/handles.h"

namespace gputrace::vulkan {

/// All bindings of a set, each with something in it but the last.
struct BoundHandles {
  std::array<VkDescriptorBufferInfo, 5> buffers{};  ///< storage 0 to 3, then the uniform one
  VkBufferView texel = VK_NULL_HANDLE;
  VkDescriptorImageInfo image{};
  /// Null = none: a shader without ray queries does not look at it.
  VkAccelerationStructureKHR scene = VK_NULL_HANDLE;
};

/// Stages that see the push constants.
inline constexpr VkShaderStageFlags kPushStages =
    VK_SHADER_STAGE_COMPUTE_BIT | VK_SHADER_STAGE_VERTEX_BIT | VK_SHADER_STAGE_FRAGMENT_BIT;

struct SharedLayout {
  OwnedSetLayout set;
  OwnedPipelineLayout pipeline;
  bool has_scene = false;

  /// `has_scene`: with a binding for an acceleration structure, which only devices with ray
  /// queries know.
  [[nodiscard]] static Result<SharedLayout> create(const Context& context, bool has_scene);
};

/// Sets for one submission; begin() takes back those of the one before. Move-only.
class DescriptorSets {
 public:
  [[nodiscard]] static Result<DescriptorSets> create(const Context& context,
                                                     const SharedLayout& layout);
  /// Makes room for `count` sets.
  [[nodiscard]] Status begin(std::size_t count);
  [[nodiscard]] Result<VkDescriptorSet> make(const BoundHandles& bound);

 private:
  DescriptorSets(const Context& context, const SharedLayout& layout)
      : context_(&context), layout_(layout.set.get()), has_scene_(layout.has_scene) {}

  const Context* context_;
  VkDescriptorSetLayout layout_;
  bool has_scene_;
  OwnedDescriptorPool pool_;
  std::size_t capacity_ = 0;
};

}  // namespace gputrace::vulkan
