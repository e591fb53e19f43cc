#include "kernels/vulkan/pipeline.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "kernels/vulkan/device_impl.h"
#include "kernels/vulkan/shader_stage.h"

namespace gputrace::vulkan {

Result<OwnedShader> load_shader(const Context& context, std::span<const std::uint32_t> spirv) {
  if (spirv.empty()) {
    return fail(ErrorCode::kInvalidArgument, "the shader has no code");
  }
  VkShaderModuleCreateInfo info{};
  info.sType = VK_STRUCTURE_TYPE_SHADER_MODULE_CREATE_INFO;
  info.codeSize = spirv.size_bytes();
  info.pCode = spirv.data();
  return OwnedShader::create(context, info, "cannot load a shader");
}

SpecializationInfo::SpecializationInfo(std::span<const std::uint32_t> constants) {
  entries_.reserve(constants.size());
  for (std::size_t i = 0; i < constants.size(); ++i) {
    entries_.push_back({.constantID = static_cast<std::uint32_t>(i),
                        .offset = static_cast<std::uint32_t>(i * sizeof(std::uint32_t)),
                        .size = sizeof(std::uint32_t)});
  }
  info_.mapEntryCount = static_cast<std::uint32_t>(entries_.size());
  info_.pMapEntries = entries_.data();
  info_.dataSize = constants.size_bytes();
  info_.pData = constants.data();
}

VkPipelineCreateFlags capture_flags(const DeviceFacts& facts) {
  return facts.executable_properties
             ? VK_PIPELINE_CREATE_CAPTURE_STATISTICS_BIT_KHR |
                   VK_PIPELINE_CREATE_CAPTURE_INTERNAL_REPRESENTATIONS_BIT_KHR
             : 0;
}

namespace {

/// The driver compiles for this size, or the pipeline fails.
Status ask_for_subgroup_size(const DeviceFacts& facts, std::uint32_t size) {
  const std::vector<std::uint32_t>& sizes = facts.subgroup_sizes;
  if (std::find(sizes.begin(), sizes.end(), size) == sizes.end()) {
    return fail(
        ErrorCode::kUnsupported,
        fmt::format("{} cannot compile for subgroups of {}; it offers {}", facts.listed.name, size,
                    sizes.empty() ? "no choice" : fmt::format("{}", fmt::join(sizes, ", "))));
  }
  return {};
}

}  // namespace

Result<Pipeline> Device::create_pipeline(const ComputeShader& shader) {
  const Context& context = impl_->context;
  auto code = load_shader(context, shader.spirv);
  if (!code) {
    return tl::unexpected(code.error());
  }
  const SpecializationInfo constants(shader.constants);
  VkPipelineShaderStageRequiredSubgroupSizeCreateInfo subgroup{};
  subgroup.sType = VK_STRUCTURE_TYPE_PIPELINE_SHADER_STAGE_REQUIRED_SUBGROUP_SIZE_CREATE_INFO;
  VkComputePipelineCreateInfo info{};
  info.sType = VK_STRUCTURE_TYPE_COMPUTE_PIPELINE_CREATE_INFO;
  info.flags = capture_flags(impl_->facts);
  info.layout = impl_->layout.pipeline.get();
  info.stage.sType = VK_STRUCTURE_TYPE_PIPELINE_SHADER_STAGE_CREATE_INFO;
  info.stage.stage = VK_SHADER_STAGE_COMPUTE_BIT;
  info.stage.module = code->get();
  info.stage.pName = "main";
  info.stage.pSpecializationInfo = constants.get();
  if (shader.subgroup_size) {
    if (const Status offered = ask_for_subgroup_size(impl_->facts, *shader.subgroup_size);
        !offered) {
      return tl::unexpected(offered.error());
    }
    subgroup.requiredSubgroupSize = *shader.subgroup_size;
    info.stage.pNext = &subgroup;
  }
  VkPipeline handle = VK_NULL_HANDLE;
  const VkResult result = context.table.vkCreateComputePipelines(context.device, VK_NULL_HANDLE, 1,
                                                                 &info, nullptr, &handle);
  if (result != VK_SUCCESS) {
    return fail_vulkan(result, "cannot compile a compute shader");
  }
  auto made = std::make_unique<Pipeline::Impl>();
  made->context = &context;
  made->pipeline = OwnedPipeline(context, handle);
  made->shows_executables = impl_->facts.executable_properties;
  if (const Status valid = impl_->check_validation(); !valid) {
    return tl::unexpected(valid.error());
  }
  return Pipeline(std::move(made));
}

Pipeline::Pipeline(std::unique_ptr<Impl> impl) : impl_(std::move(impl)) {}
Pipeline::Pipeline(Pipeline&& other) noexcept = default;
Pipeline& Pipeline::operator=(Pipeline&& other) noexcept = default;
Pipeline::~Pipeline() = default;

}  // namespace gputrace::vulkan
