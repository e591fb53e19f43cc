// The points of the roofline: vectors loaded, any number of FMAs, vectors stored, by one code.
#pragma once

#include <cstdint>
#include <optional>
#include <utility>
#include <vector>

#include "kernels/bench/cases/sized_case.h"
#include "kernels/vulkan/device.h"

namespace gputrace::bench {

/// FLOP/B of one trip; the arithmetic intensity is trips times this.
inline constexpr double kSweepStep = 0.25;
inline constexpr double kSweepLowest = 0.25;
inline constexpr double kSweepHighest = 512;

/// Trips of the points from kSweepLowest to kSweepHighest in steps of 2, and of half a step (a
/// factor of sqrt 2) from half to twice the range of intensities in which ridges are expected.
[[nodiscard]] std::vector<std::uint32_t> sweep_trips(
    std::optional<std::pair<double, double>> ridges);

/// "sweep.n16": 16 FMAs for each number, which is `trips`. `bytes` are those read, and as many are
/// written; a case of a high intensity takes less, so that a dispatch stays short. With a group of
/// a size that is asked for: "sweep.n16.g64".
[[nodiscard]] SizedCase sweep_case(const vulkan::DeviceFacts& facts, std::uint32_t trips,
                                   std::uint64_t bytes,
                                   std::optional<std::uint32_t> group_threads = std::nullopt);

/// To read in a sweep, far beyond any cache where memory allows. `quick`: less, for software
/// rasterisers far less.
[[nodiscard]] std::uint64_t sweep_bytes(const vulkan::DeviceFacts& facts, bool quick);

}  // namespace gputrace::bench
