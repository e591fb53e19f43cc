#include <array>
#include <utility>

#include "kernels/vulkan/device_impl.h"
#include "kernels/vulkan/format.h"
#include "kernels/vulkan/shader_stage.h"

namespace gputrace::vulkan {

namespace {

Result<OwnedRenderPass> make_pass(const Context& context, Format format, VkAttachmentLoadOp load) {
  const bool depth = is_depth(format);
  const VkImageLayout layout = depth ? VK_IMAGE_LAYOUT_DEPTH_STENCIL_ATTACHMENT_OPTIMAL
                                     : VK_IMAGE_LAYOUT_COLOR_ATTACHMENT_OPTIMAL;
  VkAttachmentDescription attachment{};
  attachment.format = vulkan_format(format);
  attachment.samples = VK_SAMPLE_COUNT_1_BIT;
  attachment.loadOp = load;
  attachment.storeOp = VK_ATTACHMENT_STORE_OP_STORE;
  attachment.stencilLoadOp = VK_ATTACHMENT_LOAD_OP_DONT_CARE;
  attachment.stencilStoreOp = VK_ATTACHMENT_STORE_OP_DONT_CARE;
  attachment.initialLayout = layout;
  attachment.finalLayout = layout;
  const VkAttachmentReference reference{0, layout};
  VkSubpassDescription subpass{};
  subpass.pipelineBindPoint = VK_PIPELINE_BIND_POINT_GRAPHICS;
  if (depth) {
    subpass.pDepthStencilAttachment = &reference;
  } else {
    subpass.colorAttachmentCount = 1;
    subpass.pColorAttachments = &reference;
  }
  VkRenderPassCreateInfo info{};
  info.sType = VK_STRUCTURE_TYPE_RENDER_PASS_CREATE_INFO;
  info.attachmentCount = 1;
  info.pAttachments = &attachment;
  info.subpassCount = 1;
  info.pSubpasses = &subpass;
  return OwnedRenderPass::create(context, info, "cannot make a render pass");
}

VkPipelineColorBlendAttachmentState blending(bool blend) {
  VkPipelineColorBlendAttachmentState state{};
  state.blendEnable = blend ? VK_TRUE : VK_FALSE;
  state.srcColorBlendFactor = VK_BLEND_FACTOR_SRC_ALPHA;
  state.dstColorBlendFactor = VK_BLEND_FACTOR_ONE_MINUS_SRC_ALPHA;
  state.colorBlendOp = VK_BLEND_OP_ADD;
  state.srcAlphaBlendFactor = VK_BLEND_FACTOR_ONE;
  state.dstAlphaBlendFactor = VK_BLEND_FACTOR_ONE_MINUS_SRC_ALPHA;
  state.alphaBlendOp = VK_BLEND_OP_ADD;
  state.colorWriteMask = VK_COLOR_COMPONENT_R_BIT | VK_COLOR_COMPONENT_G_BIT |
                         VK_COLOR_COMPONENT_B_BIT | VK_COLOR_COMPONENT_A_BIT;
  return state;
}

/// The fixed functions of a full-screen triangle. Points into itself.
struct FixedFunctions {
  VkPipelineVertexInputStateCreateInfo vertices{};
  VkPipelineInputAssemblyStateCreateInfo triangles{};
  VkPipelineViewportStateCreateInfo viewport{};
  VkPipelineRasterizationStateCreateInfo rasterization{};
  VkPipelineMultisampleStateCreateInfo samples{};
  VkPipelineDepthStencilStateCreateInfo depth{};
  VkPipelineColorBlendAttachmentState blend{};
  VkPipelineColorBlendStateCreateInfo blends{};
  std::array<VkDynamicState, 2> dynamic_states{VK_DYNAMIC_STATE_VIEWPORT, VK_DYNAMIC_STATE_SCISSOR};
  VkPipelineDynamicStateCreateInfo dynamic{};

  FixedFunctions(bool to_depth, bool with_blend) : blend(blending(with_blend)) {
    vertices.sType = VK_STRUCTURE_TYPE_PIPELINE_VERTEX_INPUT_STATE_CREATE_INFO;
    triangles.sType = VK_STRUCTURE_TYPE_PIPELINE_INPUT_ASSEMBLY_STATE_CREATE_INFO;
    triangles.topology = VK_PRIMITIVE_TOPOLOGY_TRIANGLE_LIST;
    viewport.sType = VK_STRUCTURE_TYPE_PIPELINE_VIEWPORT_STATE_CREATE_INFO;
    viewport.viewportCount = 1;
    viewport.scissorCount = 1;
    rasterization.sType = VK_STRUCTURE_TYPE_PIPELINE_RASTERIZATION_STATE_CREATE_INFO;
    rasterization.polygonMode = VK_POLYGON_MODE_FILL;
    rasterization.cullMode = VK_CULL_MODE_NONE;
    rasterization.lineWidth = 1;
    samples.sType = VK_STRUCTURE_TYPE_PIPELINE_MULTISAMPLE_STATE_CREATE_INFO;
    samples.rasterizationSamples = VK_SAMPLE_COUNT_1_BIT;
    depth.sType = VK_STRUCTURE_TYPE_PIPELINE_DEPTH_STENCIL_STATE_CREATE_INFO;
    // Every pixel is written, whatever lies there: no pixel shall be saved by a test.
    depth.depthTestEnable = to_depth ? VK_TRUE : VK_FALSE;
    depth.depthWriteEnable = depth.depthTestEnable;
    depth.depthCompareOp = VK_COMPARE_OP_ALWAYS;
    blends.sType = VK_STRUCTURE_TYPE_PIPELINE_COLOR_BLEND_STATE_CREATE_INFO;
    blends.attachmentCount = to_depth ? 0 : 1;
    blends.pAttachments = &blend;
    dynamic.sType = VK_STRUCTURE_TYPE_PIPELINE_DYNAMIC_STATE_CREATE_INFO;
    dynamic.dynamicStateCount = static_cast<std::uint32_t>(dynamic_states.size());
    dynamic.pDynamicStates = dynamic_states.data();
  }
  FixedFunctions(const FixedFunctions&) = delete;
  FixedFunctions& operator=(const FixedFunctions&) = delete;
  ~FixedFunctions() = default;

  void put_into(VkGraphicsPipelineCreateInfo& info) const {
    info.pVertexInputState = &vertices;
    info.pInputAssemblyState = &triangles;
    info.pViewportState = &viewport;
    info.pRasterizationState = &rasterization;
    info.pMultisampleState = &samples;
    info.pDepthStencilState = &depth;
    info.pColorBlendState = &blends;
    info.pDynamicState = &dynamic;
  }
};

VkPipelineShaderStageCreateInfo stage(VkShaderStageFlagBits which, const OwnedShader& code) {
  VkPipelineShaderStageCreateInfo info{};
  info.sType = VK_STRUCTURE_TYPE_PIPELINE_SHADER_STAGE_CREATE_INFO;
  info.stage = which;
  info.module = code.get();
  info.pName = "main";
  return info;
}

}  // namespace

Result<const RenderPasses*> Device::Impl::passes_over(Format format) {
  if (const auto known = passes.find(format); known != passes.end()) {
    return &known->second;
  }
  auto clearing = make_pass(context, format, VK_ATTACHMENT_LOAD_OP_CLEAR);
  if (!clearing) {
    return tl::unexpected(clearing.error());
  }
  auto careless = make_pass(context, format, VK_ATTACHMENT_LOAD_OP_DONT_CARE);
  if (!careless) {
    return tl::unexpected(careless.error());
  }
  RenderPasses& made = passes[format];
  made.clearing = std::move(*clearing);
  made.careless = std::move(*careless);
  return &made;
}

Result<Pipeline> Device::create_pipeline(const PixelShader& shader) {
  const Context& context = impl_->context;
  if (!impl_->facts.graphics) {
    return fail(ErrorCode::kUnsupported, impl_->facts.listed.name + " does not draw");
  }
  VkFormatProperties format{};
  vkGetPhysicalDeviceFormatProperties(context.physical, vulkan_format(shader.target), &format);
  const VkFormatFeatureFlags needed =
      is_depth(shader.target) ? VkFormatFeatureFlags{VK_FORMAT_FEATURE_DEPTH_STENCIL_ATTACHMENT_BIT}
      : shader.blend          ? VkFormatFeatureFlags{VK_FORMAT_FEATURE_COLOR_ATTACHMENT_BLEND_BIT}
                              : VkFormatFeatureFlags{VK_FORMAT_FEATURE_COLOR_ATTACHMENT_BIT};
  if ((format.optimalTilingFeatures & needed) != needed) {
    return fail(ErrorCode::kUnsupported, "the device does not draw to " +
                                             std::string(name_of(shader.target)) +
                                             (shader.blend ? " with blending" : ""));
  }
  auto vertex = load_shader(context, shader.vertex_spirv);
  if (!vertex) {
    return tl::unexpected(vertex.error());
  }
  auto fragment = load_shader(context, shader.fragment_spirv);
  if (!fragment) {
    return tl::unexpected(fragment.error());
  }
  const auto passes = impl_->passes_over(shader.target);
  if (!passes) {
    return tl::unexpected(passes.error());
  }
  const SpecializationInfo constants(shader.constants);
  std::array<VkPipelineShaderStageCreateInfo, 2> stages{
      stage(VK_SHADER_STAGE_VERTEX_BIT, *vertex), stage(VK_SHADER_STAGE_FRAGMENT_BIT, *fragment)};
  stages[1].pSpecializationInfo = constants.get();
  const FixedFunctions fixed(is_depth(shader.target), shader.blend);
  VkGraphicsPipelineCreateInfo info{};
  info.sType = VK_STRUCTURE_TYPE_GRAPHICS_PIPELINE_CREATE_INFO;
  info.flags = capture_flags(impl_->facts);
  info.stageCount = static_cast<std::uint32_t>(stages.size());
  info.pStages = stages.data();
  fixed.put_into(info);
  info.layout = impl_->layout.pipeline.get();
  info.renderPass = (*passes)->clearing.get();
  VkPipeline handle = VK_NULL_HANDLE;
  const VkResult result = context.table.vkCreateGraphicsPipelines(context.device, VK_NULL_HANDLE, 1,
                                                                  &info, nullptr, &handle);
  if (result != VK_SUCCESS) {
    return fail_vulkan(result, "cannot compile a pixel shader");
  }
  auto made = std::make_unique<Pipeline::Impl>();
  made->context = &context;
  made->pipeline = OwnedPipeline(context, handle);
  made->shows_executables = impl_->facts.executable_properties;
  made->target = shader.target;
  if (const Status valid = impl_->check_validation(); !valid) {
    return tl::unexpected(valid.error());
  }
  return Pipeline(std::move(made));
}

}  // namespace gputrace::vulkan
