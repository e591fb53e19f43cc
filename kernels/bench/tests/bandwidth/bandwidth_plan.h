// Which streams, regions and sizes `bench bandwidth` measures, and what comes first.
#pragma once

#include <cstdint>
#include <vector>

#include "kernels/bench/cases/bandwidth.h"
#include "kernels/vulkan/device.h"

namespace gputrace::bench {

struct BandwidthPoint {
  Stream stream = Stream::kRead;
  bool own = false;  ///< a region for each group
  /// Of each buffer that the stream needs, and of a group where `own`.
  std::uint64_t region_bytes = 0;
  /// What is touched in all, of a group where `own`.
  std::uint64_t working_set = 0;
  unsigned rank = 0;  ///< as for_each_point()'s
};

/// In the order of the tests; their sizes ascend.
inline constexpr Stream kBandwidthStreams[] = {Stream::kRead, Stream::kWrite, Stream::kCopy,
                                               Stream::kMix25, Stream::kMix75};

/// By stream, then own regions before the shared one, then size: powers of two from 4 KiB to 256
/// MiB, and less where ranges or memory are small, in a quick run or on a software rasteriser.
[[nodiscard]] std::vector<BandwidthPoint> bandwidth_points(const vulkan::DeviceFacts& facts,
                                                           bool quick);

}  // namespace gputrace::bench
