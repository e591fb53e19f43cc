// The kernels of `bench latency` and of `bench stride`: pointer chases.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "kernels/bench/kernel_case.h"
#include "kernels/bench/tests/latency/chase_tracks.h"
#include "kernels/vulkan/device.h"

namespace gputrace::bench {

inline constexpr std::uint32_t kHopsPerTrip = 16;
inline constexpr std::uint32_t kMaxChains = 8;

/// How a chase goes.
struct ChaseShape {
  Path path = Path::kVector;
  std::uint32_t chains = 1;  ///< that a lane follows at once, 1 to kMaxChains
  /// Each lane its own chain, else one lane alone; not where the whole group has one address.
  bool full_wave = false;
};

/// "vector", "uniform", "constant", "texel", "image", "sampled", "local".
[[nodiscard]] std::string_view name_of(Path path);
/// "1 chain", "4 chains", "full wave".
[[nodiscard]] std::string name_of(const ChaseShape& shape);
/// "64KiB", "4870B".
[[nodiscard]] std::string size_in_id(std::uint64_t bytes);
/// The whole group has one address: scalar and constant caches.
[[nodiscard]] bool is_uniform(Path path);

/// Tracks of a path in the order of the sizes, each at most largest_chase(): the cycles of a path
/// that reads buffers share memory. Image sizes must be those of an image.
[[nodiscard]] std::vector<ChaseTrack> chase_tracks(Path path, const vulkan::DeviceFacts& facts,
                                                   const std::vector<std::uint64_t>& sizes);

/// What ranges of shaders, sides of images and local memory allow; 0 = nothing.
[[nodiscard]] std::uint64_t chase_range(Path path, const vulkan::DeviceFacts& facts);
/// And an eighth of the device's memory.
[[nodiscard]] std::uint64_t largest_chase(Path path, const vulkan::DeviceFacts& facts);

/// Through all nodes of the track. Nodes hold addresses where the device has buffer addresses, else
/// indices, which cost a shift a hop. A run goes on where the one before ended.
[[nodiscard]] KernelCase chase_case(const ChaseShape& shape, const vulkan::DeviceFacts& facts,
                                    const ChaseTrack& track);
/// With a name of its own.
[[nodiscard]] KernelCase chase_case(std::string id, const ChaseShape& shape,
                                    const vulkan::DeviceFacts& facts, const ChaseTrack& track);

/// Hops of each chain, one after the other, in one dispatch.
[[nodiscard]] double hops_of_dispatch(const Launch& launch);

}  // namespace gputrace::bench
