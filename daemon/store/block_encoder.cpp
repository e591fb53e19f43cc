#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "daemon/store/block_payload.h"

namespace gputrace::store {

namespace {

using sampler::SampleState;

/// One register of a block, in the form in which planes are cut from it.
struct Column {
  RegisterSummary summary;
  std::vector<std::uint32_t> differences;  ///< word ^ base; repeats the last where not valid
  Plane valid;
  Plane neighbours;  ///< valid, and so is the tick before (or there is none in this block)
};

Column make_column(std::span<const std::uint32_t> words, std::span<const SampleState> states,
                   std::optional<std::uint32_t> word_before) {
  Column column;
  const std::size_t ticks = words.size();
  column.differences.resize(ticks);
  column.valid.resize(plane_words(ticks));
  column.neighbours.resize(plane_words(ticks));
  RegisterSummary& reg = column.summary;
  const auto first = std::find(states.begin(), states.end(), SampleState::kValid);
  if (word_before && first == states.begin()) {
    reg.base = *word_before;
  } else if (first != states.end()) {
    reg.base = words[static_cast<std::size_t>(first - states.begin())];
  }
  std::uint32_t difference = 0;
  bool valid_before = true;
  for (std::size_t i = 0; i < ticks; ++i) {
    if (reg.states.empty() || reg.states.back().state != states[i]) {
      reg.states.push_back({states[i], 0});
    }
    ++reg.states.back().ticks;
    const bool valid = states[i] == SampleState::kValid;
    if (valid) {
      difference = words[i] ^ reg.base;
      reg.varying |= difference;
      column.valid[i / 64] |= std::uint64_t{1} << (i % 64);
    }
    if (valid && valid_before) {
      column.neighbours[i / 64] |= std::uint64_t{1} << (i % 64);
    }
    column.differences[i] = difference;
    valid_before = valid;
  }
  return column;
}

Plane cut_plane(const std::vector<std::uint32_t>& differences, unsigned bit) {
  Plane plane(plane_words(differences.size()));
  for (std::size_t i = 0; i < differences.size(); ++i) {
    plane[i / 64] |= static_cast<std::uint64_t>(differences[i] >> bit & 1U) << (i % 64);
  }
  return plane;
}

/// Set bits of `plane & mask` in [begin, end).
std::uint32_t count_range(const Plane& plane, const Plane& mask, std::size_t begin,
                          std::size_t end) {
  std::uint32_t count = 0;
  while (begin < end) {
    const std::size_t stop = std::min(end, (begin / 64 + 1) * 64);
    std::uint64_t bits = plane[begin / 64] & mask[begin / 64];
    bits >>= begin % 64;
    const std::size_t width = stop - begin;
    if (width < 64) {
      bits &= (std::uint64_t{1} << width) - 1;
    }
    count += static_cast<std::uint32_t>(std::popcount(bits));
    begin = stop;
  }
  return count;
}

/// Bit i: the plane differs between tick i - 1 and tick i; before the first tick it is 0 (base).
Plane change_plane(const Plane& plane) {
  Plane changes(plane.size());
  std::uint64_t carry = 0;
  for (std::size_t i = 0; i < plane.size(); ++i) {
    changes[i] = plane[i] ^ (plane[i] << 1 | carry);
    carry = plane[i] >> 63;
  }
  return changes;
}

/// Collects the distinct planes of a block. Planes are the same only when their ticks are valid at
/// the same places, so that their counts are the same too.
class PlaneSet {
 public:
  std::uint16_t add(Plane plane, const Column& column) {
    for (std::size_t i = 0; i < planes_.size(); ++i) {
      if (planes_[i] == plane && columns_[i]->valid == column.valid) {
        return static_cast<std::uint16_t>(i);
      }
    }
    planes_.push_back(std::move(plane));
    columns_.push_back(&column);
    return static_cast<std::uint16_t>(planes_.size() - 1);
  }

  void count(BlockSummary& summary) const {
    summary.plane_count = planes_.size();
    for (std::size_t i = 0; i < planes_.size(); ++i) {
      const Plane changes = change_plane(planes_[i]);
      std::size_t begin = 0;
      for (const std::uint32_t ticks : summary.cell_ticks) {
        summary.differing.push_back(
            count_range(planes_[i], columns_[i]->valid, begin, begin + ticks));
        summary.changes.push_back(
            count_range(changes, columns_[i]->neighbours, begin, begin + ticks));
        begin += ticks;
      }
    }
  }

  [[nodiscard]] const std::vector<Plane>& planes() const { return planes_; }

 private:
  std::vector<Plane> planes_;
  std::vector<const Column*> columns_;
};

/// The period that makes the stamps small: the nominal one, else the block's mean gap.
std::int64_t stamp_period_ns(std::optional<double> rate_hz, std::span<const std::int64_t> times) {
  if (rate_hz && *rate_hz > 0) {
    return std::llround(std::min(1e9 / *rate_hz, 1e12));
  }
  if (times.size() < 2) {
    return kNsPerMs;
  }
  return (times.back() - times.front()) / static_cast<std::int64_t>(times.size() - 1);
}

}  // namespace

BlockEncoder::BlockEncoder(std::int64_t grid_ns, std::optional<double> rate_hz,
                           std::size_t register_count)
    : grid_ns_(grid_ns), rate_hz_(rate_hz), last_time_ns_(grid_ns), previous_(register_count) {}

Result<EncodedBlock> BlockEncoder::encode(const sampler::SampleBlock& block,
                                          const BlockPart& part) {
  const auto times = std::span(block.time_ns).subspan(part.begin, part.end - part.begin);
  for (const std::int64_t time : times) {
    if (time < last_time_ns_) {
      return fail(
          ErrorCode::kInvalidArgument,
          fmt::format("sample times run backwards: {} ns after {} ns", time, last_time_ns_));
    }
    last_time_ns_ = time;
  }
  EncodedBlock encoded;
  encoded.row = part.row;
  encoded.row.ticks = times.size();
  BlockSummary& summary = encoded.summary;
  const std::int64_t start_us = stamp_us(part.row.start_ns, grid_ns_);
  if (start_us < 0 ||
      start_us > kMaxStampUs - static_cast<std::int64_t>(kMaxBlockCells) * kCellUs) {
    return fail(ErrorCode::kInvalidArgument, "a block lies outside the time of its segment");
  }
  summary.first_cell = start_us / kCellUs;
  std::vector<std::int64_t> stamps;
  for (const std::int64_t time : times) {
    stamps.push_back(stamp_us(time, grid_ns_));
    const std::int64_t cell = stamps.back() / kCellUs - summary.first_cell;
    if (cell < 0 || cell >= static_cast<std::int64_t>(kMaxBlockCells)) {
      return fail(ErrorCode::kInvalidArgument, "a sample lies outside the span of its block");
    }
    summary.cell_ticks.resize(std::max(summary.cells(), static_cast<std::size_t>(cell) + 1));
    ++summary.cell_ticks[static_cast<std::size_t>(cell)];
  }

  std::vector<Column> columns;
  for (std::size_t r = 0; r < previous_.size(); ++r) {
    Previous& before = previous_[r];
    const bool neighbour = before.valid && part.row.dropped_ticks == 0;
    const auto words = block.words_of(r).subspan(part.begin, times.size());
    const auto states = block.states_of(r).subspan(part.begin, times.size());
    columns.push_back(
        make_column(words, states, neighbour ? std::optional(before.word) : std::nullopt));
    if (!words.empty()) {
      before = {words.back(), states.back() == SampleState::kValid};
    }
  }
  PlaneSet planes;
  for (Column& column : columns) {
    for (unsigned bit = 0; bit < 32; ++bit) {
      if ((column.summary.varying >> bit & 1U) != 0) {
        column.summary.plane[bit] = planes.add(cut_plane(column.differences, bit), column);
      }
    }
  }
  for (Column& column : columns) {
    summary.registers.push_back(std::move(column.summary));
  }
  planes.count(summary);

  ByteWriter summary_bytes;
  write_summary(summary_bytes, summary);
  ByteWriter time_bytes;
  write_times(time_bytes, stamps, start_us, stamp_period_ns(rate_hz_, times));
  ByteWriter plane_bits;
  for (const Plane& plane : planes.planes()) {
    plane_bits.plane(plane, times.size());
  }
  for (const auto& [bytes, blob] : {std::pair{&summary_bytes, &encoded.summary_blob},
                                    std::pair{&time_bytes, &encoded.times_blob},
                                    std::pair{&plane_bits, &encoded.planes_blob}}) {
    Result<std::vector<std::byte>> compressed = compressor_.compress(bytes->bytes());
    if (!compressed) {
      return tl::unexpected<Error>(compressed.error());
    }
    *blob = std::move(*compressed);
  }
  return encoded;
}

}  // namespace gputrace::store
