// How fast memory and each cache level are: streams of 16-byte vectors.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

#include "kernels/bench/cases/sized_case.h"
#include "kernels/vulkan/device.h"

namespace gputrace::bench {

/// Triad: to = from + factor * other.
enum class Stream { kRead, kWrite, kCopy, kTriad };

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

/// A region of `bytes` (a power of two; of each buffer that the stream needs) again and again:
/// "bandwidth.read.16KiB". All groups share it, each beginning in a place of its own.
[[nodiscard]] SizedCase cache_case(const vulkan::DeviceFacts& facts, Stream stream,
                                   std::uint64_t bytes);
/// The same with a region for each group: "bandwidth.read.16KiB.private".
[[nodiscard]] SizedCase private_cache_case(const vulkan::DeviceFacts& facts, Stream stream,
                                           std::uint64_t bytes);

/// Of one buffer: far beyond the last cache where memory and ranges allow.
[[nodiscard]] std::uint64_t dram_bytes(const vulkan::DeviceFacts& facts, bool quick);

/// Regions for cache_case() from 4 KiB to dram_bytes() in steps of 2; `quick`: of 4.
[[nodiscard]] std::vector<std::uint64_t> working_sets(const vulkan::DeviceFacts& facts, bool quick);

}  // namespace gputrace::bench
