#include "kernels/vulkan/memory.h"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <cstdint>
#include <vector>

namespace gputrace::vulkan {

namespace {

/// Kinds of memory that are allowed, those with most of the preferred properties first.
std::vector<std::uint32_t> kinds_that_suit(const VkPhysicalDeviceMemoryProperties& memory,
                                           std::uint32_t allowed, const MemoryWish& wish) {
  std::vector<std::uint32_t> kinds;
  for (std::uint32_t i = 0; i < memory.memoryTypeCount; ++i) {
    const VkMemoryPropertyFlags flags = memory.memoryTypes[i].propertyFlags;
    // AMD's coherent device memory is for debugging only; lazily allocated memory is for tilers.
    constexpr VkMemoryPropertyFlags kNever =
        VK_MEMORY_PROPERTY_PROTECTED_BIT | VK_MEMORY_PROPERTY_LAZILY_ALLOCATED_BIT |
        VK_MEMORY_PROPERTY_DEVICE_COHERENT_BIT_AMD | VK_MEMORY_PROPERTY_DEVICE_UNCACHED_BIT_AMD;
    if ((allowed >> i & 1U) != 0 && (flags & wish.required) == wish.required &&
        (flags & kNever) == 0) {
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
  for (const std::uint32_t kind : kinds_that_suit(context.memory, needs.memoryTypeBits, wish)) {
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

}  // namespace gputrace::vulkan
