// Memory for buffers and images, from the kind of heap that suits.
#pragma once

#include "daemon/base/result.h"
#include "kernels/vulkan/handles.h"

namespace gputrace::vulkan {

struct MemoryWish {
  VkMemoryPropertyFlags required = 0;
  VkMemoryPropertyFlags preferred = 0;  ///< taken from a kind without it when there is no other
  bool with_address = false;            ///< a shader may have its address
};

/// kNoSpace when no heap has it, kUnsupported on a device without any memory.
[[nodiscard]] Result<OwnedMemory> allocate(const Context& context,
                                           const VkMemoryRequirements& needs,
                                           const MemoryWish& wish);

}  // namespace gputrace::vulkan
