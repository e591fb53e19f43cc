// The inside of a device and of what is made on it.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <utility>

#include "kernels/vulkan/acceleration_structure.h"
#include "kernels/vulkan/bindings.h"
#include "kernels/vulkan/device.h"
#include "kernels/vulkan/handles.h"
#include "kernels/vulkan/host_pages.h"
#include "kernels/vulkan/image.h"
#include "kernels/vulkan/memory.h"
#include "kernels/vulkan/pipeline.h"
#include "kernels/vulkan/queue.h"
#include "kernels/vulkan/work.h"

namespace gputrace::vulkan {

/// For work of our own: copies of bounded size. A driver resets a GPU that hangs before that.
inline constexpr std::int64_t kCopyTimeoutNs = 60'000'000'000;

// Members are destroyed in the reverse order: memory last.

struct Buffer::Impl {
  HostPages pages;  ///< of an imported one, in place of the device's memory
  OwnedMemory memory;
  OwnedBuffer buffer;
  OwnedBufferView texels;  ///< R32_UINT; none where the device cannot see so many
  std::uint64_t size = 0;
  std::uint64_t address = 0;
  std::byte* mapped = nullptr;  ///< null where it is not asked for, or the memory is not visible
  bool coherent = true;         ///< else mapped ranges are to be flushed and invalidated
};

struct Texture::Impl {
  OwnedMemory memory;
  OwnedImage image;
  OwnedImageView view;
  VkSampler sampler = VK_NULL_HANDLE;
};

struct RenderTarget::Impl {
  OwnedMemory memory;
  OwnedImage image;
  OwnedImageView view;
  OwnedFramebuffer framebuffer;
  TargetDescription description;
};

struct Pipeline::Impl {
  const Context* context = nullptr;
  OwnedPipeline pipeline;
  bool shows_executables = false;
  std::optional<Format> target;  ///< of a pixel shader
};

/// Of the top level, for binding 7.
[[nodiscard]] VkAccelerationStructureKHR handle_of(const AccelerationStructure& structure);

/// How a buffer is made.
struct BufferWish {
  MemoryWish memory;
  bool mapped = false;
  bool coherent = true;
  bool on_all_queues = false;
  bool imported = false;  ///< in pages of this process; `memory` is not looked at
};

/// Render passes over one format; the same but for what they do with the target's old contents.
struct RenderPasses {
  OwnedRenderPass clearing;
  OwnedRenderPass careless;
};

struct Device::Impl {
  explicit Impl(VulkanInstance instance) : context(std::move(instance)) {}

  Context context;
  DeviceFacts facts;
  bool resets_queries = false;
  VkPhysicalDeviceLimits limits{};
  SharedLayout layout;

  // Nothing below is there on a device that cannot run.
  std::optional<Queue> queue;
  std::map<std::size_t, Queue> other_queues;  ///< by DeviceFacts::queues, made when first needed
  std::optional<DescriptorSets> sets;
  std::map<Format, RenderPasses> passes;
  OwnedSampler nearest;
  OwnedSampler bilinear;
  std::unique_ptr<Buffer::Impl> staging;
  std::unique_ptr<Buffer::Impl> dummy_buffer;
  std::unique_ptr<Texture::Impl> dummy_texture;

  [[nodiscard]] Status open(VkPhysicalDevice physical);
  [[nodiscard]] Status open_queue();
  [[nodiscard]] Status make_dummies();

  /// Absent where the queue has no timestamps that can be used.
  [[nodiscard]] std::optional<TimestampScale> timestamps_of(const QueueFamily& family) const;
  /// By DeviceFacts::queues.
  [[nodiscard]] Result<Queue*> queue_at(std::size_t index);
  [[nodiscard]] std::string why_not_run() const;
  [[nodiscard]] Status can_run() const;
  /// Runs what `record` records and waits.
  [[nodiscard]] Status run_commands(const std::function<void(VkCommandBuffer)>& record);
  [[nodiscard]] Result<std::unique_ptr<Buffer::Impl>> make_buffer(std::uint64_t bytes,
                                                                  MemoryUse use);
  [[nodiscard]] Result<std::unique_ptr<Buffer::Impl>> make_buffer(std::uint64_t bytes,
                                                                  const BufferWish& wish);
  /// Gives it memory, its own or this process's, mapped as wished.
  [[nodiscard]] Status back(Buffer::Impl& buffer, const BufferWish& wish);
  /// Zeros, and what the validation layer says.
  [[nodiscard]] Result<Buffer> finish_buffer(Result<std::unique_ptr<Buffer::Impl>> made);
  /// For flushing; kInvalidArgument of bytes that are not mapped.
  [[nodiscard]] Result<VkMappedMemoryRange> mapped_range(const Buffer::Impl& buffer,
                                                         std::uint64_t bytes) const;
  [[nodiscard]] Status fill_with_zeros(const Buffer::Impl& buffer);
  [[nodiscard]] Result<std::unique_ptr<Texture::Impl>> make_texture(
      const TextureDescription& description, std::span<const std::byte> texels);
  [[nodiscard]] Result<const RenderPasses*> passes_over(Format format);
  /// Host-visible, made when it is first needed.
  [[nodiscard]] Result<Buffer::Impl*> staging_buffer();
  [[nodiscard]] Status check_validation() const { return context.instance.check_validation(); }
};

}  // namespace gputrace::vulkan
