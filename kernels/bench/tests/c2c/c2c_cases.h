// The kernels of `bench c2c`: a word that two hand to and fro, and what they say of it.
#pragma once

#include <array>
#include <cstdint>
#include <optional>

#include "kernels/bench/kernel_case.h"
#include "kernels/vulkan/device.h"

namespace gputrace::bench {

/// What all dispatches so far left in the control words.
struct HandOvers {
  std::uint32_t dispatches = 0;
  std::uint32_t missed = 0;      ///< dispatches in which a partner did not come
  std::uint32_t unfinished = 0;  ///< in which the tries were spent
  std::uint32_t handed = 0;      ///< times that the word changed, modulo 2^32
  std::array<std::uint32_t, 2> swaps{};
  std::array<std::uint32_t, 2> tries{};

  [[nodiscard]] double failed_tries_per_swap() const;
};

/// Of one kernel of either kind, with its buffers as they were read back.
[[nodiscard]] HandOvers read_hand_overs(const Outputs& outputs);

/// Whether every hand-over of the launch happened. kUnsupported: the two were not in flight at the
/// same time, or their tries were spent, so that nothing can be measured here; kCorrupt: words
/// were lost.
[[nodiscard]] Status check_hand_overs(const std::string& id, const HandOvers& found,
                                      const Launch& launch);

/// Bounds on what a dispatch may wait for. Defaults: tens of milliseconds on a GPU.
struct WaitBudget {
  std::uint32_t looks = 8000;   ///< eight each, for the partner
  std::uint32_t linger = 200;   ///< of the other groups
  std::uint32_t trips = 30000;  ///< eight tries each
};

/// Launch::trips is how often each of the two swaps, Launch::groups must be more than both
/// numbers. Each group takes as much local memory as it can, so that two do not share a core
/// whose memory is less than twice that.
[[nodiscard]] KernelCase c2c_global_case(const vulkan::DeviceFacts& facts, std::uint32_t first,
                                         std::uint32_t second, const WaitBudget& budget = {});

/// Two waves of one group, or two lanes of one wave; one group.
[[nodiscard]] KernelCase c2c_local_case(const vulkan::DeviceFacts& facts, bool two_lanes);

}  // namespace gputrace::bench
