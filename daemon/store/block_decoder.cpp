#include <fmt/format.h>

#include <algorithm>
#include <cstring>

#include "daemon/store/block_payload.h"

namespace gputrace::store {

BlockDecoder::BlockDecoder(std::int64_t grid_ns, std::size_t register_count)
    : grid_ns_(grid_ns), register_count_(register_count) {}

Result<BlockSummary> BlockDecoder::decode_summary(const BlockRow& row,
                                                  std::span<const std::byte> blob) {
  if (row.ticks > kMaxBlockTicks || row.start_ns < grid_ns_) {
    return fail(ErrorCode::kCorrupt, "a block of an impossible size or time");
  }
  const auto raw = decompressor_.decompress(blob, max_summary_size(row.ticks, register_count_));
  if (!raw) {
    return tl::unexpected<Error>(raw.error());
  }
  Result<BlockSummary> summary = read_summary(*raw, row.ticks, register_count_);
  if (summary) {
    summary->first_cell = stamp_us(row.start_ns, grid_ns_) / kCellUs;
  }
  return summary;
}

Result<std::span<const std::byte>> BlockDecoder::decompress_planes(
    const BlockRow& row, const BlockSummary& summary, std::span<const std::byte> planes_blob) {
  const std::size_t size = summary.plane_count * plane_bytes(row.ticks);
  auto planes = decompressor_.decompress(planes_blob, size);
  if (planes && planes->size() != size) {
    return fail(ErrorCode::kCorrupt, "bit planes that do not fit their block");
  }
  return planes;
}

Result<BlockCounts> BlockDecoder::decode_counts(const BlockRow& row, const BlockSummary& summary,
                                                std::span<const std::byte> planes_blob,
                                                std::span<const std::uint32_t> wanted) {
  GPUTRACE_CHECK(wanted.empty() || wanted.size() == summary.registers.size());
  const auto planes = decompress_planes(row, summary, planes_blob);
  if (!planes) {
    return tl::unexpected<Error>(planes.error());
  }
  return BlockCounts(summary, *planes, wanted);
}

Status BlockDecoder::decode_ticks(const BlockRow& row, const BlockSummary& summary,
                                  std::span<const std::byte> times_blob,
                                  std::span<const std::byte> planes_blob,
                                  sampler::SampleBlock& block) {
  GPUTRACE_CHECK(row.ticks <= block.capacity && summary.registers.size() == register_count_);
  block.register_count = register_count_;
  block.size = row.ticks;
  block.start_ns = row.start_ns;
  block.end_ns = row.end_ns;
  block.missed = row.missed;
  block.dropped_ticks = row.dropped_ticks;

  const auto times = decompressor_.decompress(times_blob, max_times_size(row.ticks));
  if (!times) {
    return tl::unexpected<Error>(times.error());
  }
  const auto stamps = std::span(block.time_ns).first(row.ticks);
  if (Status status = read_times(*times, stamp_us(row.start_ns, grid_ns_), stamps); !status) {
    return status;
  }
  for (std::int64_t& stamp : stamps) {
    stamp = grid_ns_ + stamp * 1000;
  }

  const auto planes = decompress_planes(row, summary, planes_blob);
  if (!planes) {
    return tl::unexpected<Error>(planes.error());
  }
  const std::size_t bytes = plane_bytes(row.ticks);
  for (std::size_t r = 0; r < register_count_; ++r) {
    const RegisterSummary& reg = summary.registers[r];
    const std::span<std::uint32_t> words = block.words_of(r);
    std::fill(words.begin(), words.end(), 0);
    for (unsigned bit = 0; bit < 32; ++bit) {
      if ((reg.varying >> bit & 1U) == 0) {
        continue;
      }
      const auto plane = planes->subspan(reg.plane[bit] * bytes, bytes);
      for (std::size_t i = 0; i < words.size(); ++i) {
        words[i] |= (static_cast<std::uint32_t>(plane[i / 8]) >> (i % 8) & 1U) << bit;
      }
    }
    std::uint32_t word = reg.base;
    for (std::uint32_t& changed : words) {
      word ^= changed;
      changed = word;
    }
    std::size_t tick = r * block.capacity;
    for (const StateRun& run : reg.states) {
      for (std::uint32_t i = 0; i < run.ticks; ++i, ++tick) {
        block.states[tick] = run.state;
        if (run.state != sampler::SampleState::kValid) {
          block.words[tick] = 0;
        }
      }
    }
  }
  return {};
}

}  // namespace gputrace::store
