#include <fmt/format.h>

#include <algorithm>
#include <cstring>
#include <utility>

#include "kernels/vulkan/device_impl.h"
#include "kernels/vulkan/memory.h"

namespace gputrace::vulkan {

namespace {

/// Large enough that a copy costs more than its submission.
constexpr std::uint64_t kStagingBytes = std::uint64_t{16} << 20U;

std::uint64_t max_allocation_of(VkPhysicalDevice physical) {
  VkPhysicalDeviceProperties2 all{};
  all.sType = VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_PROPERTIES_2;
  VkPhysicalDeviceMaintenance3Properties sizes{};
  sizes.sType = VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_MAINTENANCE_3_PROPERTIES;
  all.pNext = &sizes;
  vkGetPhysicalDeviceProperties2(physical, &all);
  return sizes.maxMemoryAllocationSize;
}

BufferWish wish_for(MemoryUse use) {
  BufferWish wish;
  if (use == MemoryUse::kReadBack) {
    wish.memory = {
        .required = VK_MEMORY_PROPERTY_HOST_VISIBLE_BIT | VK_MEMORY_PROPERTY_HOST_COHERENT_BIT,
        .preferred = VK_MEMORY_PROPERTY_HOST_CACHED_BIT};
    wish.mapped = true;
  } else {
    wish.memory.preferred = VK_MEMORY_PROPERTY_DEVICE_LOCAL_BIT;
  }
  return wish;
}

BufferWish wish_for(const MemoryKind& kind) {
  BufferWish wish;
  wish.memory.type = kind.type;
  wish.mapped = kind.host_visible;
  wish.coherent = kind.host_coherent || !kind.host_visible;
  wish.on_all_queues = true;
  return wish;
}

}  // namespace

Result<std::unique_ptr<Buffer::Impl>> Device::Impl::make_buffer(std::uint64_t bytes,
                                                                MemoryUse use) {
  return make_buffer(bytes, wish_for(use));
}

Status Device::Impl::back(Buffer::Impl& buffer, const BufferWish& wish) {
  VkMemoryRequirements needs{};
  context.table.vkGetBufferMemoryRequirements(context.device, buffer.buffer.get(), &needs);
  if (wish.imported) {
    auto pages = HostPages::map(needs.size, facts.host_import_alignment.value_or(1));
    if (!pages) {
      return tl::unexpected(pages.error());
    }
    buffer.pages = std::move(*pages);
  }
  MemoryWish memory_wish = wish.memory;
  memory_wish.with_address = facts.buffer_addresses;
  auto memory = wish.imported
                    ? import_pages(context, needs, buffer.pages.bytes(), facts.buffer_addresses)
                    : allocate(context, needs, memory_wish);
  if (!memory) {
    return tl::unexpected(memory.error());
  }
  buffer.memory = std::move(*memory);
  VkResult result =
      context.table.vkBindBufferMemory(context.device, buffer.buffer.get(), buffer.memory.get(), 0);
  if (result == VK_SUCCESS && wish.imported) {
    buffer.mapped = buffer.pages.bytes().data();
  } else if (result == VK_SUCCESS && wish.mapped) {
    void* address = nullptr;
    result = context.table.vkMapMemory(context.device, buffer.memory.get(), 0, VK_WHOLE_SIZE, 0,
                                       &address);
    buffer.mapped = static_cast<std::byte*>(address);
    buffer.coherent = wish.coherent;
  }
  if (result != VK_SUCCESS) {
    return fail_vulkan(result, fmt::format("cannot give a buffer its {} bytes", buffer.size));
  }
  return {};
}

Result<std::unique_ptr<Buffer::Impl>> Device::Impl::make_buffer(std::uint64_t bytes,
                                                                const BufferWish& wish) {
  if (const Status ready = can_run(); !ready) {
    return tl::unexpected(ready.error());
  }
  if (bytes == 0) {
    return fail(ErrorCode::kInvalidArgument, "a buffer of 0 bytes cannot be made");
  }
  const std::uint64_t max_bytes = max_allocation_of(context.physical);
  if (bytes > max_bytes) {
    return fail(
        ErrorCode::kUnsupported,
        fmt::format("a buffer of {} bytes is over the device's limit of {}", bytes, max_bytes));
  }
  auto made = std::make_unique<Buffer::Impl>();
  made->size = bytes;
  VkBufferCreateInfo info{};
  info.sType = VK_STRUCTURE_TYPE_BUFFER_CREATE_INFO;
  info.size = (bytes + 3) / 4 * 4;  // whole words, for zeros and texels
  info.usage = VK_BUFFER_USAGE_STORAGE_BUFFER_BIT | VK_BUFFER_USAGE_UNIFORM_BUFFER_BIT |
               VK_BUFFER_USAGE_UNIFORM_TEXEL_BUFFER_BIT | VK_BUFFER_USAGE_TRANSFER_SRC_BIT |
               VK_BUFFER_USAGE_TRANSFER_DST_BIT;
  if (facts.buffer_addresses) {
    info.usage |= VK_BUFFER_USAGE_SHADER_DEVICE_ADDRESS_BIT;
  }
  std::vector<std::uint32_t> families;
  families.reserve(facts.queues.size());
  for (const QueueFamily& family : facts.queues) {
    families.push_back(family.index);
  }
  if (wish.on_all_queues && families.size() > 1) {
    info.sharingMode = VK_SHARING_MODE_CONCURRENT;
    info.queueFamilyIndexCount = static_cast<std::uint32_t>(families.size());
    info.pQueueFamilyIndices = families.data();
  }
  VkExternalMemoryBufferCreateInfo external{};
  external.sType = VK_STRUCTURE_TYPE_EXTERNAL_MEMORY_BUFFER_CREATE_INFO;
  external.handleTypes = VK_EXTERNAL_MEMORY_HANDLE_TYPE_HOST_ALLOCATION_BIT_EXT;
  info.pNext = wish.imported ? &external : nullptr;
  auto buffer =
      OwnedBuffer::create(context, info, fmt::format("cannot make a buffer of {} bytes", bytes));
  if (!buffer) {
    return tl::unexpected(buffer.error());
  }
  made->buffer = std::move(*buffer);
  if (const Status backed = back(*made, wish); !backed) {
    return tl::unexpected(backed.error());
  }
  if (facts.buffer_addresses) {
    VkBufferDeviceAddressInfo address_info{};
    address_info.sType = VK_STRUCTURE_TYPE_BUFFER_DEVICE_ADDRESS_INFO;
    address_info.buffer = made->buffer.get();
    const auto get_address = context.table.vkGetBufferDeviceAddress != nullptr
                                 ? context.table.vkGetBufferDeviceAddress
                                 : context.table.vkGetBufferDeviceAddressKHR;
    made->address = get_address(context.device, &address_info);
  }
  if (info.size / 4 <= limits.maxTexelBufferElements) {
    VkBufferViewCreateInfo view_info{};
    view_info.sType = VK_STRUCTURE_TYPE_BUFFER_VIEW_CREATE_INFO;
    view_info.buffer = made->buffer.get();
    view_info.format = VK_FORMAT_R32_UINT;
    view_info.range = VK_WHOLE_SIZE;
    auto view = OwnedBufferView::create(context, view_info, "cannot make a buffer of texels");
    if (!view) {
      return tl::unexpected(view.error());
    }
    made->texels = std::move(*view);
  }
  return made;
}

Status Device::Impl::fill_with_zeros(const Buffer::Impl& buffer) {
  return run_commands([&](VkCommandBuffer commands) {
    context.table.vkCmdFillBuffer(commands, buffer.buffer.get(), 0, VK_WHOLE_SIZE, 0);
  });
}

Result<Buffer::Impl*> Device::Impl::staging_buffer() {
  if (!staging) {
    auto made = make_buffer(kStagingBytes, MemoryUse::kReadBack);
    if (!made) {
      return fail(made.error(), "cannot copy between the host and the GPU");
    }
    staging = std::move(*made);
  }
  return staging.get();
}

Result<Buffer> Device::Impl::finish_buffer(Result<std::unique_ptr<Buffer::Impl>> made) {
  if (!made) {
    return tl::unexpected(made.error());
  }
  // Pages of this process are zeros already, and none of them is there before it is used.
  if ((*made)->pages.bytes().empty()) {
    if (const Status filled = fill_with_zeros(**made); !filled) {
      return tl::unexpected(filled.error());
    }
  }
  if (const Status valid = check_validation(); !valid) {
    return tl::unexpected(valid.error());
  }
  return Buffer(std::move(*made));
}

Result<Buffer> Device::create_buffer(std::uint64_t bytes, MemoryUse use) {
  return impl_->finish_buffer(impl_->make_buffer(bytes, use));
}

Result<Buffer> Device::create_buffer(std::uint64_t bytes, const MemoryKind& kind) {
  return impl_->finish_buffer(impl_->make_buffer(bytes, wish_for(kind)));
}

Result<Buffer> Device::create_imported_buffer(std::uint64_t bytes) {
  if (!impl_->facts.host_import_alignment) {
    return fail(ErrorCode::kUnsupported, impl_->facts.listed.name +
                                             " cannot use memory of this process "
                                             "(VK_EXT_external_memory_host)");
  }
  BufferWish wish;
  wish.imported = true;
  wish.on_all_queues = true;
  return impl_->finish_buffer(impl_->make_buffer(bytes, wish));
}

Result<Buffer> Device::create_host_buffer(std::uint64_t bytes) {
  auto imported = create_imported_buffer(bytes);
  if (imported || imported.error().code != ErrorCode::kUnsupported) {
    return imported;
  }
  const MemoryKind* const kind = host_side(impl_->facts.memory_kinds);
  if (kind == nullptr) {
    return fail(ErrorCode::kUnsupported,
                impl_->facts.listed.name + " has no memory that the CPU sees (host-visible)");
  }
  return create_buffer(bytes, *kind);
}

Result<VkMappedMemoryRange> Device::Impl::mapped_range(const Buffer::Impl& buffer,
                                                       std::uint64_t bytes) const {
  if (buffer.mapped == nullptr || bytes > buffer.size) {
    return fail(ErrorCode::kInvalidArgument,
                fmt::format("the CPU does not see {} bytes of a buffer", bytes));
  }
  VkMappedMemoryRange range{};
  range.sType = VK_STRUCTURE_TYPE_MAPPED_MEMORY_RANGE;
  range.memory = buffer.memory.get();
  // Whole atoms, and all that is mapped where they would reach beyond it.
  const VkDeviceSize atom = std::max<VkDeviceSize>(limits.nonCoherentAtomSize, 1);
  const VkDeviceSize rounded = (bytes + atom - 1) / atom * atom;
  range.size = rounded < buffer.size ? rounded : VK_WHOLE_SIZE;
  return range;
}

Status Device::flush(const Buffer& buffer, std::uint64_t bytes) {
  const auto range = impl_->mapped_range(buffer.impl(), bytes);
  if (!range) {
    return tl::unexpected(range.error());
  }
  if (buffer.impl().coherent || bytes == 0) {
    return {};
  }
  const VkResult result =
      impl_->context.table.vkFlushMappedMemoryRanges(impl_->context.device, 1, &*range);
  return result == VK_SUCCESS ? Status() : fail_vulkan(result, "cannot flush mapped memory");
}

Status Device::invalidate(const Buffer& buffer, std::uint64_t bytes) {
  const auto range = impl_->mapped_range(buffer.impl(), bytes);
  if (!range) {
    return tl::unexpected(range.error());
  }
  if (buffer.impl().coherent || bytes == 0) {
    return {};
  }
  const VkResult result =
      impl_->context.table.vkInvalidateMappedMemoryRanges(impl_->context.device, 1, &*range);
  return result == VK_SUCCESS ? Status() : fail_vulkan(result, "cannot invalidate mapped memory");
}

Status Device::upload(const Buffer& to, std::span<const std::byte> data) {
  const Buffer::Impl& target = to.impl();
  if (data.size() > target.size) {
    return fail(ErrorCode::kInvalidArgument,
                fmt::format("{} bytes do not fit into a buffer of {}", data.size(), target.size));
  }
  if (data.empty()) {
    return {};
  }
  if (target.mapped != nullptr) {
    std::memcpy(target.mapped, data.data(), data.size());
    return flush(to, data.size());
  }
  const Result<Buffer::Impl*> through = impl_->staging_buffer();
  if (!through) {
    return tl::unexpected(through.error());
  }
  for (std::uint64_t done = 0; done < data.size(); done += kStagingBytes) {
    const std::uint64_t bytes = std::min(kStagingBytes, data.size() - done);
    std::memcpy((*through)->mapped, data.data() + done, bytes);
    const VkBufferCopy region{.srcOffset = 0, .dstOffset = done, .size = bytes};
    const Status copied = impl_->run_commands([&](VkCommandBuffer commands) {
      impl_->context.table.vkCmdCopyBuffer(commands, (*through)->buffer.get(), target.buffer.get(),
                                           1, &region);
    });
    if (!copied) {
      return copied;
    }
  }
  return impl_->check_validation();
}

Result<std::vector<std::byte>> Device::download(const Buffer& from, std::uint64_t offset,
                                                std::uint64_t bytes) {
  const Buffer::Impl& source = from.impl();
  if (offset > source.size || bytes > source.size - offset) {
    return fail(
        ErrorCode::kInvalidArgument,
        fmt::format("a buffer of {} bytes has no {} bytes at {}", source.size, bytes, offset));
  }
  if (source.mapped != nullptr) {
    if (const Status seen = invalidate(from, offset + bytes); !seen) {
      return tl::unexpected(seen.error());
    }
    return std::vector<std::byte>(source.mapped + offset, source.mapped + offset + bytes);
  }
  const Result<Buffer::Impl*> through = impl_->staging_buffer();
  if (!through) {
    return tl::unexpected(through.error());
  }
  std::vector<std::byte> data(bytes);
  for (std::uint64_t done = 0; done < bytes; done += kStagingBytes) {
    const std::uint64_t part = std::min(kStagingBytes, bytes - done);
    const VkBufferCopy region{.srcOffset = offset + done, .dstOffset = 0, .size = part};
    const Status copied = impl_->run_commands([&](VkCommandBuffer commands) {
      impl_->context.table.vkCmdCopyBuffer(commands, source.buffer.get(), (*through)->buffer.get(),
                                           1, &region);
    });
    if (!copied) {
      return tl::unexpected(copied.error());
    }
    std::memcpy(data.data() + done, (*through)->mapped, part);
  }
  if (const Status valid = impl_->check_validation(); !valid) {
    return tl::unexpected(valid.error());
  }
  return data;
}

Buffer::Buffer(std::unique_ptr<Impl> impl) : impl_(std::move(impl)) {}
Buffer::Buffer(Buffer&& other) noexcept = default;
Buffer& Buffer::operator=(Buffer&& other) noexcept = default;
Buffer::~Buffer() = default;

std::uint64_t Buffer::size() const {
  return impl_->size;
}
bool Buffer::is_imported() const {
  return !impl_->pages.bytes().empty();
}
std::span<std::byte> Buffer::mapped() const {
  return impl_->mapped != nullptr ? std::span(impl_->mapped, impl_->size) : std::span<std::byte>();
}
std::uint64_t Buffer::address() const {
  return impl_->address;
}

}  // namespace gputrace::vulkan
