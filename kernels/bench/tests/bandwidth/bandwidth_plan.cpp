#include "kernels/bench/tests/bandwidth/bandwidth_plan.h"

#include <algorithm>
#include <bit>

namespace gputrace::bench {

namespace {

constexpr std::uint64_t kMiB = 1U << 20U;
constexpr std::uint64_t kSmallest = 4096;
constexpr std::uint64_t kLargest = 256 * kMiB;
constexpr std::uint64_t kLargestQuick = 128 * kMiB;
constexpr std::uint64_t kLargestOfCpu = 64 * kMiB;
constexpr std::uint64_t kLargestQuickOfCpu = 16 * kMiB;
/// Buffers may hold this part of the memory; the proof has as many again.
constexpr std::uint64_t kMemoryShare = 8;
/// Steps of two from the smallest size to one of a first-level cache.
constexpr unsigned kFirstLevel = 2;
constexpr unsigned kSparse = 4;

/// Of all that a stream touches.
std::uint64_t largest_set(const vulkan::DeviceFacts& facts, bool quick) {
  std::uint64_t bytes = quick ? kLargestQuick : kLargest;
  if (facts.is_cpu) {
    bytes = quick ? kLargestQuickOfCpu : kLargestOfCpu;
  }
  bytes = std::min(bytes, facts.max_storage_range);
  if (facts.memory_bytes != 0) {
    bytes = std::min(bytes, facts.memory_bytes / kMemoryShare);
  }
  return std::bit_floor(std::max(bytes, kSmallest));
}

/// Reads come first: they tell the levels. Of the others the cache near and memory do at first.
unsigned rank_of(const BandwidthPoint& point, unsigned step, bool is_last) {
  const bool is_sparse = step % kSparse == kFirstLevel;
  const bool is_end = step == kFirstLevel || (is_last && !point.own);
  if (point.stream == Stream::kRead) {
    return is_sparse || is_end ? 0 : 1 + step % 2;
  }
  if (is_end) {
    return 0;
  }
  return is_sparse ? 1 : 2 + step % 2;
}

}  // namespace

std::vector<BandwidthPoint> bandwidth_points(const vulkan::DeviceFacts& facts, bool quick) {
  std::vector<BandwidthPoint> points;
  const std::uint64_t largest = largest_set(facts, quick);
  for (const Stream stream : kBandwidthStreams) {
    const std::uint64_t buffers = stream == Stream::kCopy ? 2 : 1;
    for (const bool own : {true, false}) {
      const std::uint64_t regions = own ? own_groups(facts) : 1;
      unsigned step = 0;
      for (std::uint64_t bytes = kSmallest; bytes * regions <= largest; bytes *= 2, ++step) {
        BandwidthPoint point{.stream = stream,
                             .own = own,
                             .region_bytes = bytes / buffers,
                             .working_set = bytes,
                             .rank = 0};
        point.rank = rank_of(point, step, bytes * 2 * regions > largest);
        if (point.region_bytes >= least_region(facts, stream)) {
          points.push_back(point);
        }
      }
    }
  }
  return points;
}

}  // namespace gputrace::bench
