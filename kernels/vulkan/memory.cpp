#include "kernels/vulkan/memory.h"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <cstdint>
#include <vector>

namespace gputrace::vulkan {

namespace {

// AMD's coherent device memory is for debugging only; lazily allocated memory is for tilers.
constexpr VkMemoryPropertyFlags kNever =
    VK_MEMORY_PROPERTY_PROTECTED_BIT | VK_MEMORY_PROPERTY_LAZILY_ALLOCATED_BIT |
    VK_MEMORY_PROPERTY_DEVICE_COHERENT_BIT_AMD | VK_MEMORY_PROPERTY_DEVICE_UNCACHED_BIT_AMD;

/// Kinds of memory that are allowed, those with most of the preferred properties first.
std::vector<std::uint32_t> kinds_that_suit(const VkPhysicalDeviceMemoryProperties& memory,
                                           std::uint32_t allowed, const MemoryWish& wish) {
  std::vector<std::uint32_t> kinds;
  for (std::uint32_t i = 0; i < memory.memoryTypeCount; ++i) {
    const VkMemoryPropertyFlags flags = memory.memoryTypes[i].propertyFlags;
    if ((allowed >> i & 1U) != 0 && (flags & wish.required) == wish.required &&
        (flags & kNever) == 0 && wish.type.value_or(i) == i) {
      kinds.push_back(i);
    }
  }
  const auto score = [&](std::uint32_t i) {
    return std::popcount(memory.memoryTypes[i].propertyFlags & wish.preferred);
  };
  std::stable_sort(kinds.begin(), kinds.end(), [&](std::uint32_t one, std::uint32_t other) {
    return score(one) > score(other);
  });
  return kinds;
}

}  // namespace

Result<OwnedMemory> allocate(const Context& context, const VkMemoryRequirements& needs,
                             const MemoryWish& wish) {
  if (context.memory.memoryHeapCount == 0) {
    return fail(ErrorCode::kUnsupported,
                "the device has no memory: it compiles shaders and cannot run them");
  }
  VkMemoryAllocateFlagsInfo flags{};
  flags.sType = VK_STRUCTURE_TYPE_MEMORY_ALLOCATE_FLAGS_INFO;
  flags.flags = VK_MEMORY_ALLOCATE_DEVICE_ADDRESS_BIT;
  VkMemoryAllocateInfo wanted{};
  wanted.sType = VK_STRUCTURE_TYPE_MEMORY_ALLOCATE_INFO;
  wanted.pNext = wish.with_address ? &flags : nullptr;
  wanted.allocationSize = needs.size;

  VkDeviceSize largest = 0;
  const auto kinds = kinds_that_suit(context.memory, needs.memoryTypeBits, wish);
  if (kinds.empty()) {
    return fail(ErrorCode::kUnsupported, "the device has no memory of this kind for it");
  }
  for (const std::uint32_t kind : kinds) {
    const VkDeviceSize heap =
        context.memory.memoryHeaps[context.memory.memoryTypes[kind].heapIndex].size;
    largest = std::max(largest, heap);
    if (needs.size > heap) {
      continue;
    }
    wanted.memoryTypeIndex = kind;
    auto memory = OwnedMemory::create(
        context, wanted, fmt::format("cannot allocate {} MiB", (needs.size >> 20U) + 1));
    // A full heap may have a neighbour: an integrated GPU's carve-out is small.
    if (memory || memory.error().code != ErrorCode::kNoSpace) {
      return memory;
    }
  }
  return fail(ErrorCode::kNoSpace,
              fmt::format("cannot allocate {} bytes: the memory of the device is full, or too "
                          "small (largest heap {} bytes)",
                          needs.size, largest));
}

Result<OwnedMemory> import_pages(const Context& context, const VkMemoryRequirements& needs,
                                 std::span<std::byte> pages, bool with_address) {
  VkMemoryHostPointerPropertiesEXT suitable{};
  suitable.sType = VK_STRUCTURE_TYPE_MEMORY_HOST_POINTER_PROPERTIES_EXT;
  const VkResult result = context.table.vkGetMemoryHostPointerPropertiesEXT(
      context.device, VK_EXTERNAL_MEMORY_HANDLE_TYPE_HOST_ALLOCATION_BIT_EXT, pages.data(),
      &suitable);
  if (result != VK_SUCCESS) {
    return fail_vulkan(result, "cannot lend memory of this process to the GPU");
  }
  // What is not coherent would have to be mapped to be flushed, and pages of ours are not.
  const auto kinds = kinds_that_suit(context.memory, needs.memoryTypeBits & suitable.memoryTypeBits,
                                     {.required = VK_MEMORY_PROPERTY_HOST_COHERENT_BIT,
                                      .preferred = VK_MEMORY_PROPERTY_HOST_CACHED_BIT});
  if (kinds.empty()) {
    return fail(ErrorCode::kUnsupported,
                "the device has no coherent memory for buffers in memory of this process");
  }
  VkImportMemoryHostPointerInfoEXT import{};
  import.sType = VK_STRUCTURE_TYPE_IMPORT_MEMORY_HOST_POINTER_INFO_EXT;
  import.handleType = VK_EXTERNAL_MEMORY_HANDLE_TYPE_HOST_ALLOCATION_BIT_EXT;
  import.pHostPointer = pages.data();
  VkMemoryAllocateFlagsInfo flags{};
  flags.sType = VK_STRUCTURE_TYPE_MEMORY_ALLOCATE_FLAGS_INFO;
  flags.flags = VK_MEMORY_ALLOCATE_DEVICE_ADDRESS_BIT;
  import.pNext = with_address ? &flags : nullptr;
  VkMemoryAllocateInfo wanted{};
  wanted.sType = VK_STRUCTURE_TYPE_MEMORY_ALLOCATE_INFO;
  wanted.pNext = &import;
  wanted.allocationSize = pages.size();
  wanted.memoryTypeIndex = kinds.front();
  return OwnedMemory::create(context, wanted,
                             fmt::format("cannot lend {} bytes to the GPU", pages.size()));
}

std::vector<MemoryKind> memory_kinds_of(const VkPhysicalDeviceMemoryProperties& memory) {
  std::vector<MemoryKind> kinds;
  for (std::uint32_t i = 0; i < memory.memoryTypeCount; ++i) {
    const VkMemoryPropertyFlags flags = memory.memoryTypes[i].propertyFlags;
    if ((flags & kNever) == 0) {
      kinds.push_back({.type = i,
                       .device_local = (flags & VK_MEMORY_PROPERTY_DEVICE_LOCAL_BIT) != 0,
                       .host_visible = (flags & VK_MEMORY_PROPERTY_HOST_VISIBLE_BIT) != 0,
                       .host_coherent = (flags & VK_MEMORY_PROPERTY_HOST_COHERENT_BIT) != 0,
                       .host_cached = (flags & VK_MEMORY_PROPERTY_HOST_CACHED_BIT) != 0,
                       .heap_bytes = memory.memoryHeaps[memory.memoryTypes[i].heapIndex].size});
    }
  }
  return distinct_kinds(kinds);
}

}  // namespace gputrace::vulkan
