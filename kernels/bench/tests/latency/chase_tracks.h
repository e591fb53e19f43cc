// Where the nodes of pointer chases lie: in buffers that many of them share, and in images.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <vector>

#include "kernels/bench/kernel_case.h"
#include "kernels/bench/tests/random_cycle.h"
#include "kernels/vulkan/image.h"

namespace gputrace::bench {

/// One cycle of nodes to follow.
struct ChaseTrack {
  std::uint64_t bytes =
      0;  ///< the working set: from the first node to behind the last one's stride
  std::uint64_t stride_bytes = kNodeBytes;
  std::shared_ptr<const RandomCycle> cycle;
  /// Of a node: its byte in the buffer, or its texel, x + y * 65536.
  std::function<std::uint32_t(std::uint32_t node)> place;
  std::optional<BufferNeed> nodes;  ///< else
  std::optional<TextureNeed> image;
};

/// What a node holds of the next one.
enum class ChaseLinks {
  kAddresses,  ///< 8 bytes
  kWords,      ///< the index of its 4-byte word
  kVectors,    ///< the index of its 16-byte vector
};

struct TrackWish {
  std::uint64_t bytes = 0;
  std::uint64_t stride_bytes = kNodeBytes;
  /// Else every node lies at the same place of its stride, which leaves few sets of a cache for
  /// strides of pages; then the line of each is drawn.
  bool jittered = false;
};

/// Tracks in the order of the wishes, in as few buffers of `buffer_bytes` at `binding` as they fit.
/// A line has room for the links of several chases: each follows its own, so the largest one costs
/// as much memory as all of them, and all are filled at once. `buffer_bytes` holds each of them.
[[nodiscard]] std::vector<ChaseTrack> lay_tracks(const std::vector<TrackWish>& wishes,
                                                 ChaseLinks links, std::uint32_t binding,
                                                 std::uint64_t buffer_bytes);

/// Through an image of this size: a node in every 64 bytes, whether a line is a row of texels or a
/// block of them. Sides are powers of two, from kSmallestImageSide. kR32ui holds packed places of
/// texels, kRg32f coordinates.
[[nodiscard]] ChaseTrack image_track(std::uint32_t width, std::uint32_t height,
                                     vulkan::Format format);

inline constexpr std::uint32_t kSmallestImageSide = 16;

}  // namespace gputrace::bench
