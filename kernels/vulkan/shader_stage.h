// What the stages of compute and graphics pipelines have in common.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "kernels/vulkan/device.h"
#include "kernels/vulkan/handles.h"

namespace gputrace::vulkan {

[[nodiscard]] Result<OwnedShader> load_shader(const Context& context,
                                              std::span<const std::uint32_t> spirv);
/// Keeps what the driver compiles, where it shows it.
[[nodiscard]] VkPipelineCreateFlags capture_flags(const DeviceFacts& facts);

/// Constants 0, 1, 2, ... of a shader. Points into itself and to the constants.
class SpecializationInfo {
 public:
  explicit SpecializationInfo(std::span<const std::uint32_t> constants);
  SpecializationInfo(const SpecializationInfo&) = delete;
  SpecializationInfo& operator=(const SpecializationInfo&) = delete;
  ~SpecializationInfo() = default;

  [[nodiscard]] const VkSpecializationInfo* get() const { return &info_; }

 private:
  std::vector<VkSpecializationMapEntry> entries_;
  VkSpecializationInfo info_{};
};

}  // namespace gputrace::vulkan
