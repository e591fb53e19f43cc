// How fast memory and each cache level are: streams of 16-byte vectors.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string_view>
#include <vector>

#include "kernels/bench/cases/sized_case.h"
#include "kernels/vulkan/device.h"

namespace gputrace::bench {

/// Triad: to = from + factor * other. Mixes: of four accesses to one region 1 or 3 are reads; what
/// is read and what is written lie in turn, as a group's threads are wide. A copy is the mix of
/// half and half.
enum class Stream { kRead, kWrite, kCopy, kTriad, kMix25, kMix75 };

[[nodiscard]] std::string_view name_of(Stream stream);

/// How a stream is cut into groups, where it is not left to the case.
struct StreamGroups {
  std::optional<std::uint32_t> threads = std::nullopt;  ///< of a group; a power of two
  std::optional<std::uint32_t> most = std::nullopt;     ///< groups; their threads take more trips
};

/// Each byte of each buffer once: "bandwidth.read.dram", "bandwidth.read.dram.g64.groups32".
/// `bytes` are those of one buffer, rounded down to a power of two.
[[nodiscard]] SizedCase dram_case(const vulkan::DeviceFacts& facts, Stream stream,
                                  std::uint64_t bytes, const StreamGroups& groups = {});

/// How a region that is used again and again is cut.
struct Region {
  /// Of each buffer that the stream needs: a power of two, at least least_region().
  std::uint64_t bytes = 0;
  /// One for each group, and no more groups than cores, so that each stays in the first-level cache
  /// of one: else all groups share one, each beginning in a place of its own.
  bool own = false;
  /// Not null: for all cases that name the same object, what is read lies in one buffer of
  /// `shared_bytes`.
  std::shared_ptr<const void> shared = nullptr;
  std::uint64_t shared_bytes = 0;
};

/// "bandwidth.read.16KiB", "bandwidth.read.16KiB.own".
[[nodiscard]] SizedCase cache_case(const vulkan::DeviceFacts& facts, Stream stream,
                                   const Region& region);

/// 4 KiB, or for a mix what a group touches in one trip.
[[nodiscard]] std::uint64_t least_region(const vulkan::DeviceFacts& facts, Stream stream);
/// Groups that have regions of their own.
[[nodiscard]] std::uint32_t own_groups(const vulkan::DeviceFacts& facts);

/// Of one buffer: far beyond the last cache where memory and ranges allow.
[[nodiscard]] std::uint64_t dram_bytes(const vulkan::DeviceFacts& facts, bool quick);

/// Regions for cache_case() from 4 KiB to dram_bytes() in steps of 2; `quick`: of 4.
[[nodiscard]] std::vector<std::uint64_t> working_sets(const vulkan::DeviceFacts& facts, bool quick);

}  // namespace gputrace::bench
