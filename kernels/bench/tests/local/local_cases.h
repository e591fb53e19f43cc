// The kernel of `bench local` that reads.
#pragma once

#include <cstdint>
#include <string>

#include "kernels/bench/kernel_case.h"
#include "kernels/vulkan/device.h"

namespace gputrace::bench {

inline constexpr std::uint32_t kLocalReadsPerTrip = 8;

struct LocalRead {
  std::uint32_t words = 1;   ///< of 4 bytes that a lane reads at once: 1, 2 or 4
  std::uint32_t stride = 1;  ///< such reads from lane to lane, 1 to 64
};

/// "float", "vec2", "vec4".
[[nodiscard]] std::string name_of(const LocalRead& read);
/// Whether the lanes of a wave read different places. Where local memory is too small some would
/// meet at one, which is read once for all of them: that looks faster than it is.
[[nodiscard]] bool fits(const LocalRead& read, const vulkan::DeviceFacts& facts);
/// Lanes of a wave that meet at one bank, of 32 banks of 4 bytes that serve a read in as many
/// passes as it has words.
[[nodiscard]] double lanes_at_one_bank(const LocalRead& read);
/// Groups that the device is filled with.
[[nodiscard]] std::uint32_t local_groups(const vulkan::DeviceFacts& facts);

[[nodiscard]] KernelCase local_read_case(const LocalRead& read, const vulkan::DeviceFacts& facts);

}  // namespace gputrace::bench
