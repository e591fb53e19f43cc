// The kernels of `bench host` that no other test has.
#pragma once

#include <cstdint>

#include "kernels/bench/kernel_case.h"

namespace gputrace::bench {

/// Words of host_swap.comp's buffer.
inline constexpr std::size_t kAskedWord = 0;
inline constexpr std::size_t kAnsweredWord = 64;
inline constexpr std::size_t kLastWord = 128;
inline constexpr std::size_t kTripsWord = 129;
inline constexpr std::uint64_t kSwapBytes = 4096;

/// Words of host_touch.comp's second buffer.
inline constexpr std::size_t kSeenWord = 0;
inline constexpr std::size_t kCountWord = 1;
inline constexpr std::uint64_t kSeenBytes = 256;

/// Reads word `place` of a buffer of `bytes`, and counts how often.
[[nodiscard]] KernelCase touch_case(std::uint64_t bytes, std::uint32_t place);
/// Looks for `wanted` as often as Launch::trips says; alone it gives up.
[[nodiscard]] KernelCase swap_case(std::uint32_t wanted);

[[nodiscard]] vulkan::PushConstants touch_push(std::uint32_t place);
[[nodiscard]] vulkan::PushConstants swap_push(std::uint32_t wanted, std::uint32_t budget);

}  // namespace gputrace::bench
