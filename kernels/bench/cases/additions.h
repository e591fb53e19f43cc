// The rate of fp32 additions: the bound that the proof of the rate holds all others against.
#pragma once

#include "kernels/bench/cases/sized_case.h"
#include "kernels/vulkan/device.h"

namespace gputrace::bench {

/// "additions.fp32".
[[nodiscard]] SizedCase additions_case(const vulkan::DeviceFacts& facts);

}  // namespace gputrace::bench
