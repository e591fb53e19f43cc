// Memory for buffers and images, from the kind of heap that suits.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "daemon/base/result.h"
#include "kernels/vulkan/handles.h"
#include "kernels/vulkan/memory_kinds.h"

namespace gputrace::vulkan {

struct MemoryWish {
  VkMemoryPropertyFlags required = 0;
  VkMemoryPropertyFlags preferred = 0;  ///< taken from a kind without it when there is no other
  bool with_address = false;            ///< a shader may have its address
  std::optional<std::uint32_t> type = std::nullopt;  ///< this one or none
};

/// kNoSpace when no heap has it, kUnsupported on a device without any memory.
[[nodiscard]] Result<OwnedMemory> allocate(const Context& context,
                                           const VkMemoryRequirements& needs,
                                           const MemoryWish& wish);

/// Pages of this process in place of the device's memory. They must outlive it. kUnsupported where
/// the device can use none of its kinds for them.
[[nodiscard]] Result<OwnedMemory> import_pages(const Context& context,
                                               const VkMemoryRequirements& needs,
                                               std::span<std::byte> pages, bool with_address);

[[nodiscard]] std::vector<MemoryKind> memory_kinds_of(
    const VkPhysicalDeviceMemoryProperties& memory);

}  // namespace gputrace::vulkan
