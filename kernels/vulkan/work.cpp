#include "kernels/vulkan/work.h"

#include <fmt/format.h>

#include <algorithm>
#include <type_traits>

#include "kernels/vulkan/device_impl.h"

namespace gputrace::vulkan {

namespace {

/// Records the work of one submission, after all of it was checked.
class Recorder {
 public:
  Recorder(Device::Impl& device, DescriptorSets& sets) : device_(device), descriptors_(sets) {}

  [[nodiscard]] Status check(const Dispatch& dispatch) const;
  [[nodiscard]] Status check(const Draw& draw) const;
  [[nodiscard]] Status check(const Copy& copy) const;

  /// One for each item; neighbours with the same bindings share it.
  [[nodiscard]] Status make_sets(std::span<const Work> work);
  [[nodiscard]] Status find_passes(std::span<const Work> work);
  void record(VkCommandBuffer commands, std::span<const Work> work);

 private:
  [[nodiscard]] Status check_range(const Buffer* buffer, std::uint64_t limit,
                                   std::string_view kind) const;
  [[nodiscard]] BoundHandles bound(const Bindings& bindings) const;
  void record(VkCommandBuffer commands, const Dispatch& dispatch, VkDescriptorSet set) const;
  void record(VkCommandBuffer commands, const Draw& draw, VkDescriptorSet set) const;
  void record(VkCommandBuffer commands, const Copy& copy, VkDescriptorSet set) const;

  Device::Impl& device_;
  DescriptorSets& descriptors_;
  std::vector<VkDescriptorSet> sets_;
};

Status Recorder::check_range(const Buffer* buffer, std::uint64_t limit,
                             std::string_view kind) const {
  if (buffer != nullptr && buffer->size() > limit) {
    return fail(ErrorCode::kUnsupported,
                fmt::format("a {} buffer of {} bytes is more than a shader on {} can see ({})",
                            kind, buffer->size(), device_.facts.listed.name, limit));
  }
  return {};
}

Status Recorder::check(const Dispatch& dispatch) const {
  if (dispatch.pipeline == nullptr || dispatch.pipeline->impl().target) {
    return fail(ErrorCode::kInvalidArgument, "a dispatch needs a compute pipeline");
  }
  const auto& most = device_.limits.maxComputeWorkGroupCount;
  if (dispatch.groups_x > most[0] || dispatch.groups_y > most[1] || dispatch.groups_z > most[2]) {
    return fail(ErrorCode::kUnsupported,
                fmt::format("{} x {} x {} groups are over the limit of {}, {} x {} x {}",
                            dispatch.groups_x, dispatch.groups_y, dispatch.groups_z,
                            device_.facts.listed.name, most[0], most[1], most[2]));
  }
  for (const Buffer* buffer : dispatch.bindings.storage) {
    if (Status fits = check_range(buffer, device_.limits.maxStorageBufferRange, "storage"); !fits) {
      return fits;
    }
  }
  const Buffer* const texel = dispatch.bindings.texel;
  if (texel != nullptr && texel->impl().texels.get() == VK_NULL_HANDLE) {
    return check_range(texel, std::uint64_t{device_.limits.maxTexelBufferElements} * 4, "texel");
  }
  return check_range(dispatch.bindings.uniform, device_.limits.maxUniformBufferRange, "uniform");
}

Status Recorder::check(const Draw& draw) const {
  if (draw.pipeline == nullptr || draw.target == nullptr ||
      draw.pipeline->impl().target != draw.target->impl().description.format) {
    return fail(ErrorCode::kInvalidArgument,
                "a draw needs a pixel pipeline and a target of the same format");
  }
  return {};
}

Status Recorder::check(const Copy& copy) const {
  if (copy.from == nullptr || copy.to == nullptr || copy.from == copy.to || copy.bytes == 0 ||
      copy.bytes > copy.from->size() || copy.bytes > copy.to->size()) {
    return fail(ErrorCode::kInvalidArgument,
                fmt::format("a copy of {} bytes needs two buffers that have as many", copy.bytes));
  }
  return {};
}

BoundHandles Recorder::bound(const Bindings& bindings) const {
  const auto handle = [&](const Buffer* buffer) {
    const Buffer::Impl& impl = buffer != nullptr ? buffer->impl() : *device_.dummy_buffer;
    return VkDescriptorBufferInfo{.buffer = impl.buffer.get(), .offset = 0, .range = VK_WHOLE_SIZE};
  };
  BoundHandles handles;
  for (std::size_t i = 0; i < kStorageBindings; ++i) {
    handles.buffers[i] = handle(bindings.storage[i]);
  }
  handles.buffers[kUniformBinding] = handle(bindings.uniform);
  handles.texel =
      (bindings.texel != nullptr ? bindings.texel->impl() : *device_.dummy_buffer).texels.get();
  const Texture::Impl& image =
      bindings.image != nullptr ? bindings.image->impl() : *device_.dummy_texture;
  handles.image = {.sampler = image.sampler,
                   .imageView = image.view.get(),
                   .imageLayout = VK_IMAGE_LAYOUT_SHADER_READ_ONLY_OPTIMAL};
  handles.scene = bindings.scene != nullptr ? handle_of(*bindings.scene) : VK_NULL_HANDLE;
  return handles;
}

Status Recorder::make_sets(std::span<const Work> work) {
  if (Status room = descriptors_.begin(work.size()); !room) {
    return room;
  }
  std::optional<Bindings> before;
  for (const Work& item : work) {
    Bindings bindings;
    if (const auto* const dispatch = std::get_if<Dispatch>(&item)) {
      bindings = dispatch->bindings;
    } else if (const auto* const draw = std::get_if<Draw>(&item)) {
      bindings.image = draw->image;
    }
    if (before == bindings) {
      sets_.push_back(sets_.back());
      continue;
    }
    const Result<VkDescriptorSet> set = descriptors_.make(bound(bindings));
    if (!set) {
      return tl::unexpected(set.error());
    }
    sets_.push_back(*set);
    before = bindings;
  }
  return {};
}

Status Recorder::find_passes(std::span<const Work> work) {
  for (const Work& item : work) {
    if (const auto* const draw = std::get_if<Draw>(&item)) {
      const auto passes = device_.passes_over(draw->target->impl().description.format);
      if (!passes) {
        return tl::unexpected(passes.error());
      }
    }
  }
  return {};
}

void Recorder::record(VkCommandBuffer commands, std::span<const Work> work) {
  for (std::size_t i = 0; i < work.size(); ++i) {
    std::visit([&](const auto& item) { record(commands, item, sets_[i]); }, work[i]);
  }
}

void Recorder::record(VkCommandBuffer commands, const Dispatch& dispatch,
                      VkDescriptorSet set) const {
  const VolkDeviceTable& table = device_.context.table;
  const VkPipelineLayout layout = device_.layout.pipeline.get();
  table.vkCmdBindPipeline(commands, VK_PIPELINE_BIND_POINT_COMPUTE,
                          dispatch.pipeline->impl().pipeline.get());
  table.vkCmdBindDescriptorSets(commands, VK_PIPELINE_BIND_POINT_COMPUTE, layout, 0, 1, &set, 0,
                                nullptr);
  table.vkCmdPushConstants(commands, layout, kPushStages, 0, kPushBytes, dispatch.push.data());
  for (std::uint32_t i = 0; i < dispatch.repeat; ++i) {
    table.vkCmdDispatch(commands, dispatch.groups_x, dispatch.groups_y, dispatch.groups_z);
    if (dispatch.barriers || i + 1 == dispatch.repeat) {
      wait_for_all(device_.context, commands);
    }
  }
}

void Recorder::record(VkCommandBuffer commands, const Draw& draw, VkDescriptorSet set) const {
  const VolkDeviceTable& table = device_.context.table;
  const RenderTarget::Impl& target = draw.target->impl();
  const RenderPasses& passes = device_.passes.at(target.description.format);
  const VkExtent2D extent{target.description.width, target.description.height};
  VkClearValue black{};  // and the nearest depth
  VkRenderPassBeginInfo info{};
  info.sType = VK_STRUCTURE_TYPE_RENDER_PASS_BEGIN_INFO;
  info.renderPass = (draw.clear ? passes.clearing : passes.careless).get();
  info.framebuffer = target.framebuffer.get();
  info.renderArea.extent = extent;
  info.clearValueCount = 1;
  info.pClearValues = &black;
  table.vkCmdBeginRenderPass(commands, &info, VK_SUBPASS_CONTENTS_INLINE);
  const VkPipelineLayout layout = device_.layout.pipeline.get();
  table.vkCmdBindPipeline(commands, VK_PIPELINE_BIND_POINT_GRAPHICS,
                          draw.pipeline->impl().pipeline.get());
  table.vkCmdBindDescriptorSets(commands, VK_PIPELINE_BIND_POINT_GRAPHICS, layout, 0, 1, &set, 0,
                                nullptr);
  table.vkCmdPushConstants(commands, layout, kPushStages, 0, kPushBytes, draw.push.data());
  const VkViewport viewport{
      0, 0, static_cast<float>(extent.width), static_cast<float>(extent.height), 0, 1};
  const VkRect2D scissor{{0, 0}, extent};
  table.vkCmdSetViewport(commands, 0, 1, &viewport);
  table.vkCmdSetScissor(commands, 0, 1, &scissor);
  table.vkCmdDraw(commands, 3, draw.instances, 0, 0);
  table.vkCmdEndRenderPass(commands);
  wait_for_all(device_.context, commands);
}

void Recorder::record(VkCommandBuffer commands, const Copy& copy, VkDescriptorSet /*set*/) const {
  const VkBufferCopy region{.srcOffset = 0, .dstOffset = 0, .size = copy.bytes};
  for (std::uint32_t i = 0; i < copy.repeat; ++i) {
    device_.context.table.vkCmdCopyBuffer(commands, copy.from->impl().buffer.get(),
                                          copy.to->impl().buffer.get(), 1, &region);
    wait_for_all(device_.context, commands);
  }
}

bool is_for(const Work& work, const QueueFamily& family) {
  if (std::holds_alternative<Draw>(work)) {
    return family.graphics;
  }
  return std::holds_alternative<Copy>(work) || family.compute;
}

}  // namespace

Result<RunTime> Device::run(std::span<const Work> work, std::int64_t timeout_ns,
                            const RunOptions& options) {
  std::optional<DescriptorSets>& sets = impl_->sets;
  if (!sets) {
    return fail(ErrorCode::kUnsupported, impl_->why_not_run());
  }
  const Result<Queue*> chosen = impl_->queue_at(options.queue);
  if (!chosen) {
    return tl::unexpected(chosen.error());
  }
  Queue* const queue = *chosen;
  Recorder recorder(*impl_, *sets);
  for (const Work& item : work) {
    const Status good = std::visit([&](const auto& each) { return recorder.check(each); }, item);
    if (!good) {
      return tl::unexpected(good.error());
    }
    const QueueFamily& family = impl_->facts.queues[options.queue];
    if (!is_for(item, family)) {
      return fail(ErrorCode::kInvalidArgument,
                  fmt::format("a {} does not do such work", name_of(family)));
    }
  }
  // First: it refuses on a device that was lost, where nothing may be touched.
  const Result<VkCommandBuffer> commands = queue->begin();
  if (!commands) {
    return tl::unexpected(commands.error());
  }
  if (const Status found = recorder.find_passes(work); !found) {
    return tl::unexpected(found.error());
  }
  if (const Status made = recorder.make_sets(work); !made) {
    return tl::unexpected(made.error());
  }
  recorder.record(*commands, work);
  Result<RunTime> time =
      queue->finish(std::max<std::int64_t>(timeout_ns, 0), options.while_running);
  if (!time) {
    return time;
  }
  if (const Status valid = impl_->check_validation(); !valid) {
    return tl::unexpected(valid.error());
  }
  return time;
}

}  // namespace gputrace::vulkan
