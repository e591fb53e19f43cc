// The kernel of `bench occupancy`: groups count themselves in and out, and dwell in between.
#pragma once

#include <cstdint>
#include <memory>

#include "kernels/bench/kernel_case.h"
#include "kernels/bench/tests/random_cycle.h"
#include "kernels/vulkan/device.h"

namespace gputrace::bench {

/// What a group takes of the machine.
struct OccupancyShape {
  std::uint32_t group_threads = 64;
  std::uint32_t kept_words = 0;    ///< that each lane keeps in registers, a multiple of 16
  std::uint32_t shared_bytes = 0;  ///< of local memory
};

inline constexpr std::uint32_t kMaxKeptWords = 128;
inline constexpr std::uint32_t kDwellHopsPerTrip = 16;
/// Nodes of the dwell's chase: larger than first-level caches, small enough for the second.
inline constexpr std::uint32_t kDwellNodes = 16384;

/// What the last check of a result read.
struct CensusReading {
  std::uint32_t peak = 0;  ///< groups in flight at once
};

/// Launch::trips is the length of the dwell. With `reading` the check of the result leaves there
/// what the groups counted.
[[nodiscard]] KernelCase occupancy_case(const OccupancyShape& shape,
                                        std::shared_ptr<const RandomCycle> cycle,
                                        std::shared_ptr<CensusReading> reading);

}  // namespace gputrace::bench
