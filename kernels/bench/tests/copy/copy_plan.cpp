#include <algorithm>
#include <array>

#include "kernels/bench/tests/copy/copy.h"

namespace gputrace::bench {

namespace {

using vulkan::MemoryKind;

constexpr std::uint64_t kKiB = 1024;
constexpr std::uint64_t kMiB = 1024 * kKiB;
constexpr std::uint64_t kSmallest = 4 * kKiB;
constexpr std::uint64_t kLargest = 256 * kMiB;
constexpr std::uint64_t kLargestQuick = 32 * kMiB;
constexpr std::uint64_t kLargestCpu = 64 * kMiB;
constexpr std::uint64_t kLargestQuickCpu = 8 * kMiB;
/// In a quick run from one size to the next.
constexpr std::uint64_t kQuickStep = 64;

}  // namespace

std::vector<CopySize> copy_sizes(const vulkan::DeviceFacts& facts, bool quick,
                                 std::uint64_t most_bytes) {
  std::uint64_t largest = quick ? kLargestQuick : kLargest;
  if (facts.is_cpu) {
    largest = quick ? kLargestQuickCpu : kLargestCpu;
  }
  largest = std::max(std::min(largest, most_bytes), kSmallest);
  std::vector<CopySize> sizes;
  for (std::uint64_t bytes = kSmallest; bytes < largest; bytes *= quick ? kQuickStep : 2) {
    const bool coarse = bytes == kSmallest || bytes == kSmallest * kQuickStep;
    sizes.push_back({.bytes = bytes, .rank = coarse ? 1U : 3U});
  }
  sizes.push_back({.bytes = largest, .rank = 0});
  return sizes;
}

std::uint64_t longest_copy(const std::vector<CopySize>& sizes, double ns_per_byte,
                           double limit_ns) {
  std::uint64_t longest = sizes.front().bytes;
  for (const CopySize& size : sizes) {
    if (static_cast<double>(size.bytes) * ns_per_byte <= limit_ns) {
      longest = std::max(longest, size.bytes);
    }
  }
  return longest;
}

std::uint64_t copy_room(const vulkan::DeviceFacts& facts) {
  constexpr std::uint64_t kHeapShare = 16;
  std::uint64_t least = UINT64_MAX;
  for (const MemoryKind& kind : facts.memory_kinds) {
    least = std::min(least, kind.heap_bytes);
  }
  return least / kHeapShare;
}

std::vector<KernelCase> copy_cases(const vulkan::DeviceFacts& /*facts*/) {
  return {};
}

}  // namespace gputrace::bench
