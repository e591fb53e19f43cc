#include "kernels/vulkan/queue.h"

#include <fmt/format.h>

#include <array>
#include <utility>

#include "daemon/base/time.h"

namespace gputrace::vulkan {

std::uint64_t TimestampScale::ticks(std::uint64_t first, std::uint64_t last) const {
  const std::uint64_t mask =
      valid_bits >= 64 ? ~std::uint64_t{0} : (std::uint64_t{1} << valid_bits) - 1;
  return (last - first) & mask;
}

Result<Queue> Queue::create(Context& context, std::uint32_t family,
                            std::optional<TimestampScale> scale) {
  VkQueue handle = VK_NULL_HANDLE;
  context.table.vkGetDeviceQueue(context.device, family, 0, &handle);
  Queue queue(context, handle);

  VkCommandPoolCreateInfo pool_info{};
  pool_info.sType = VK_STRUCTURE_TYPE_COMMAND_POOL_CREATE_INFO;
  pool_info.queueFamilyIndex = family;
  auto pool = OwnedCommandPool::create(context, pool_info, "cannot make a command pool");
  if (!pool) {
    return tl::unexpected(pool.error());
  }
  queue.pool_ = std::move(*pool);
  VkCommandBufferAllocateInfo commands_info{};
  commands_info.sType = VK_STRUCTURE_TYPE_COMMAND_BUFFER_ALLOCATE_INFO;
  commands_info.commandPool = queue.pool_.get();
  commands_info.level = VK_COMMAND_BUFFER_LEVEL_PRIMARY;
  commands_info.commandBufferCount = 1;
  const VkResult result =
      context.table.vkAllocateCommandBuffers(context.device, &commands_info, &queue.commands_);
  if (result != VK_SUCCESS) {
    return fail_vulkan(result, "cannot make a command buffer");
  }
  VkFenceCreateInfo fence_info{};
  fence_info.sType = VK_STRUCTURE_TYPE_FENCE_CREATE_INFO;
  auto fence = OwnedFence::create(context, fence_info, "cannot make a fence");
  if (!fence) {
    return tl::unexpected(fence.error());
  }
  queue.fence_ = std::move(*fence);
  if (scale) {
    VkQueryPoolCreateInfo query_info{};
    query_info.sType = VK_STRUCTURE_TYPE_QUERY_POOL_CREATE_INFO;
    query_info.queryType = VK_QUERY_TYPE_TIMESTAMP;
    query_info.queryCount = 2;
    auto timestamps = OwnedQueryPool::create(context, query_info, "cannot make timestamps");
    if (!timestamps) {
      return tl::unexpected(timestamps.error());
    }
    queue.timestamps_ = std::move(*timestamps);
    queue.scale_ = scale;
  }
  return queue;
}

Result<VkCommandBuffer> Queue::begin() {
  if (dead_) {
    return tl::unexpected(*dead_);
  }
  if (context_->abandoned) {
    dead_ = Error{ErrorCode::kBusy, "the device was given up: work on another queue did not end"};
    return tl::unexpected(*dead_);
  }
  const VolkDeviceTable& table = context_->table;
  VkResult result = table.vkResetCommandPool(context_->device, pool_.get(), 0);
  if (result == VK_SUCCESS) {
    VkCommandBufferBeginInfo info{};
    info.sType = VK_STRUCTURE_TYPE_COMMAND_BUFFER_BEGIN_INFO;
    info.flags = VK_COMMAND_BUFFER_USAGE_ONE_TIME_SUBMIT_BIT;
    result = table.vkBeginCommandBuffer(commands_, &info);
  }
  if (result != VK_SUCCESS) {
    return lose(result, "cannot record commands");
  }
  if (scale_) {
    reset_timestamps();
    table.vkCmdWriteTimestamp(commands_, VK_PIPELINE_STAGE_TOP_OF_PIPE_BIT, timestamps_.get(), 0);
    if (scale_->needs_flush) {
      wait_for_all(*context_, commands_);
    }
  }
  return commands_;
}

void Queue::reset_timestamps() const {
  const VolkDeviceTable& table = context_->table;
  if (scale_ && scale_->reset_by_host) {
    const auto reset =
        table.vkResetQueryPool != nullptr ? table.vkResetQueryPool : table.vkResetQueryPoolEXT;
    reset(context_->device, timestamps_.get(), 0, 2);
  } else {
    table.vkCmdResetQueryPool(commands_, timestamps_.get(), 0, 2);
  }
}

Result<RunTime> Queue::finish(std::int64_t timeout_ns, const std::function<void()>& while_running) {
  const VolkDeviceTable& table = context_->table;
  if (scale_) {
    table.vkCmdWriteTimestamp(commands_, VK_PIPELINE_STAGE_BOTTOM_OF_PIPE_BIT, timestamps_.get(),
                              1);
  }
  VkMemoryBarrier to_host{};
  to_host.sType = VK_STRUCTURE_TYPE_MEMORY_BARRIER;
  to_host.srcAccessMask = VK_ACCESS_MEMORY_WRITE_BIT;
  to_host.dstAccessMask = VK_ACCESS_HOST_READ_BIT;
  table.vkCmdPipelineBarrier(commands_, VK_PIPELINE_STAGE_ALL_COMMANDS_BIT,
                             VK_PIPELINE_STAGE_HOST_BIT, 0, 1, &to_host, 0, nullptr, 0, nullptr);
  VkResult result = table.vkEndCommandBuffer(commands_);
  if (result != VK_SUCCESS) {
    return lose(result, "cannot record commands");
  }
  VkSubmitInfo submission{};
  submission.sType = VK_STRUCTURE_TYPE_SUBMIT_INFO;
  submission.commandBufferCount = 1;
  submission.pCommandBuffers = &commands_;
  RunTime time;
  const std::int64_t start_ns = monotonic_now_ns();
  result = table.vkQueueSubmit(queue_, 1, &submission, fence_.get());
  if (result != VK_SUCCESS) {
    return lose(result, "cannot start work on the GPU");
  }
  if (while_running) {
    while_running();
  }
  if (const Status done = wait(timeout_ns); !done) {
    return tl::unexpected(done.error());
  }
  time.wall_ns = static_cast<double>(monotonic_now_ns() - start_ns);
  if (const Status read = read_timestamps(time); !read) {
    return tl::unexpected(read.error());
  }
  return time;
}

Status Queue::wait(std::int64_t timeout_ns) {
  const VolkDeviceTable& table = context_->table;
  const VkFence fence = fence_.get();
  VkResult result = table.vkWaitForFences(context_->device, 1, &fence, VK_TRUE,
                                          static_cast<std::uint64_t>(timeout_ns));
  if (result == VK_TIMEOUT) {
    context_->abandoned = true;
    dead_ = Error{ErrorCode::kBusy, fmt::format("the GPU did not finish within {:.1f} s; its work "
                                                "cannot be stopped, the device is given up",
                                                static_cast<double>(timeout_ns) / 1e9)};
    return tl::unexpected(*dead_);
  }
  if (result == VK_SUCCESS) {
    result = table.vkResetFences(context_->device, 1, &fence);
  }
  if (result != VK_SUCCESS) {
    return lose(result, "work on the GPU failed");
  }
  return {};
}

Status Queue::read_timestamps(RunTime& time) const {
  if (!scale_) {
    return {};
  }
  std::array<std::uint64_t, 2> ticks{};
  // They are there: the fence is behind them. Without WAIT a driver that lost them returns.
  const VkResult result =
      context_->table.vkGetQueryPoolResults(context_->device, timestamps_.get(), 0, 2, sizeof ticks,
                                            ticks.data(), sizeof ticks[0], VK_QUERY_RESULT_64_BIT);
  if (result != VK_SUCCESS) {
    return fail_vulkan(result, "cannot read the timestamps of the GPU");
  }
  time.ticks = scale_->ticks(ticks[0], ticks[1]);
  time.gpu_ns = static_cast<double>(*time.ticks) * scale_->period_ns;
  return {};
}

tl::unexpected<Error> Queue::lose(VkResult result, std::string_view what) {
  auto failure = fail_vulkan(result, what);
  dead_ = failure.value();
  return failure;
}

void wait_for_all(const Context& context, VkCommandBuffer commands) {
  VkMemoryBarrier barrier{};
  barrier.sType = VK_STRUCTURE_TYPE_MEMORY_BARRIER;
  barrier.srcAccessMask = VK_ACCESS_MEMORY_WRITE_BIT;
  barrier.dstAccessMask = VK_ACCESS_MEMORY_READ_BIT | VK_ACCESS_MEMORY_WRITE_BIT;
  context.table.vkCmdPipelineBarrier(commands, VK_PIPELINE_STAGE_ALL_COMMANDS_BIT,
                                     VK_PIPELINE_STAGE_ALL_COMMANDS_BIT, 0, 1, &barrier, 0, nullptr,
                                     0, nullptr);
}

}  // namespace gputrace::vulkan
