// The kernels of `bench latency`: pointer chases.
#pragma once

#include <cstdint>
#include <memory>
#include <string>

#include "kernels/bench/kernel_case.h"
#include "kernels/bench/tests/random_cycle.h"
#include "kernels/vulkan/device.h"

namespace gputrace::bench {

inline constexpr std::uint32_t kHopsPerTrip = 16;
inline constexpr std::uint32_t kMaxChains = 8;

/// How a chase goes.
struct ChaseShape {
  bool scalar = false;       ///< one address for the whole group: AMD's scalar path
  std::uint32_t chains = 1;  ///< that a lane follows at once, 1 to kMaxChains
  bool full_wave = false;    ///< each lane its own chain, else one lane alone; vector path only
};

/// "1 chain", "4 chains", "full wave".
[[nodiscard]] std::string name_of(const ChaseShape& shape);

/// Through all nodes of the cycle. Nodes hold addresses where the device has buffer addresses, else
/// indices, which cost a shift a hop. A run goes on where the one before ended.
[[nodiscard]] KernelCase chase_case(const ChaseShape& shape, const vulkan::DeviceFacts& facts,
                                    std::shared_ptr<const RandomCycle> cycle);

/// Hops of each chain, one after the other, in one dispatch.
[[nodiscard]] double hops_of_dispatch(const Launch& launch);

}  // namespace gputrace::bench
