// Every kernel of the roofline on one device, for the ISA check.
#pragma once

#include <vector>

#include "kernels/bench/kernel_case.h"
#include "kernels/vulkan/device.h"

namespace gputrace::bench {

/// Peaks, one point of the sweep (all have the same code), streams, the article's shapes.
[[nodiscard]] std::vector<KernelCase> roofline_cases(const vulkan::DeviceFacts& facts);

}  // namespace gputrace::bench
