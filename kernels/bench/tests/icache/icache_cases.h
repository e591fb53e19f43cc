// The kernels of icache: a loop of a given number of operations, and what it leaves.
#pragma once

#include <cstdint>

#include "kernels/bench/kernel_case.h"
#include "kernels/bench/tests/icache/straight_code.h"
#include "kernels/vulkan/device.h"

namespace gputrace::bench {

/// Of one instruction on GCN and RDNA, where the driver does not tell the size of the code.
[[nodiscard]] double assumed_bytes(StraightOperation operation);

/// "icache.4B.1024", "icache.8B.4096.chains4": groups of one wave.
[[nodiscard]] KernelCase straight_case(const vulkan::DeviceFacts& facts,
                                       StraightOperation operation, std::uint32_t operations,
                                       std::uint32_t chains);

}  // namespace gputrace::bench
