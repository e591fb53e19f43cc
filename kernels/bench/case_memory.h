// The buffers and images of a kernel case on a Vulkan device.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <vector>

#include "kernels/bench/kernel_case.h"
#include "kernels/vulkan/acceleration_structure.h"
#include "kernels/vulkan/device.h"
#include "kernels/vulkan/image.h"
#include "kernels/vulkan/work.h"

namespace gputrace::bench {

struct CaseMemory {
  std::vector<std::shared_ptr<const vulkan::Buffer>> buffers;  ///< in the order of the needs
  std::shared_ptr<const vulkan::Texture> texture;
  std::optional<vulkan::RenderTarget> target;
  std::shared_ptr<const vulkan::AccelerationStructure> scene;
  std::uint64_t steps = 0;  ///< dispatches that it has seen
};

/// By BufferNeed::shared and TextureNeed::shared.
struct SharedMemory {
  template <class Made>
  using By = std::map<std::weak_ptr<const void>, std::shared_ptr<const Made>, std::owner_less<>>;

  By<vulkan::Buffer> buffers;
  By<vulkan::Texture> textures;
};

/// Of those whose object is gone.
void drop_unused(SharedMemory& memory);

/// Shaders cannot or do not write it.
[[nodiscard]] bool is_read_only(const BufferNeed& need);

/// Made and filled. `of_before`, if not null: memory of the same case, whose read-only parts are
/// taken over.
[[nodiscard]] Result<CaseMemory> make_memory(vulkan::Device& device, const KernelCase& kernel,
                                             SharedMemory& shared, const CaseMemory* of_before);

}  // namespace gputrace::bench
