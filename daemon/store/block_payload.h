// The uncompressed insides of a block's blobs, apart from zstd so that tests and the fuzzer can
// reach the parsers directly.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "daemon/store/block_codec.h"
#include "daemon/store/byte_stream.h"
#include "daemon/store/session.h"

namespace gputrace::store {

/// The microsecond of the segment's grid that a time lies in. No time lies before the grid's start.
[[nodiscard]] constexpr std::int64_t stamp_us(std::int64_t time_ns, std::int64_t grid_ns) {
  return (time_ns - grid_ns) / 1000;
}
inline constexpr std::int64_t kCellUs = kCellNs / 1000;
/// 2^50 us are 35 years: no session is that long, and nanoseconds up to there fit 64 bits.
inline constexpr std::int64_t kMaxStampUs = std::int64_t{1} << 50;

void write_times(ByteWriter& out, std::span<const std::int64_t> stamps_us, std::int64_t start_us,
                 std::int64_t period_ns);
[[nodiscard]] Status read_times(std::span<const std::byte> raw, std::int64_t start_us,
                                std::span<std::int64_t> stamps_us);
/// Upper bound of the uncompressed size, for a block of so many ticks.
[[nodiscard]] std::size_t max_times_size(std::size_t ticks);

void write_summary(ByteWriter& out, const BlockSummary& summary);
/// `first_cell` is not part of the payload.
[[nodiscard]] Result<BlockSummary> read_summary(std::span<const std::byte> raw, std::size_t ticks,
                                                std::size_t register_count);
[[nodiscard]] std::size_t max_summary_size(std::size_t ticks, std::size_t register_count);

/// One bit per tick, 64 a word.
using Plane = std::vector<std::uint64_t>;
[[nodiscard]] constexpr std::size_t plane_words(std::size_t ticks) {
  return (ticks + 63) / 64;
}
[[nodiscard]] constexpr std::size_t plane_bytes(std::size_t ticks) {
  return (ticks + 7) / 8;
}

}  // namespace gputrace::store
