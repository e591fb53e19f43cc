// The rate of fp32 additions: the bound that the proof of the rate holds all others against.
#pragma once

#include <cstdint>
#include <optional>

#include "kernels/bench/cases/sized_case.h"
#include "kernels/vulkan/device.h"

namespace gputrace::bench {

/// "additions.fp32", or "additions.fp32.wave32" with a subgroup size: RDNA3 pairs two of them in
/// wave32 alone.
[[nodiscard]] SizedCase additions_case(const vulkan::DeviceFacts& facts,
                                       std::optional<std::uint32_t> subgroup_size = std::nullopt);

}  // namespace gputrace::bench
