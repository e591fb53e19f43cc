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
  std::vector<std::uint32_t> changed;  ///< bits that differ from the last valid word (or base)
};

Column make_column(std::span<const std::uint32_t> words, std::span<const SampleState> states,
                   std::optional<std::uint32_t> word_before) {
  Column column;
  const std::size_t ticks = words.size();
  column.changed.resize(ticks);
  RegisterSummary& reg = column.summary;
  const auto first = std::find(states.begin(), states.end(), SampleState::kValid);
  if (word_before && first == states.begin()) {
    reg.base = *word_before;
  } else if (first != states.end()) {
    reg.base = words[static_cast<std::size_t>(first - states.begin())];
  }
  std::uint32_t before = reg.base;
  for (std::size_t i = 0; i < ticks; ++i) {
    if (reg.states.empty() || reg.states.back().state != states[i]) {
      reg.states.push_back({states[i], 0});
    }
    ++reg.states.back().ticks;
    if (states[i] == SampleState::kValid) {
      reg.varying |= words[i] ^ reg.base;
      column.changed[i] = words[i] ^ before;
      before = words[i];
    }
  }
  return column;
}

Plane cut_plane(const std::vector<std::uint32_t>& words, unsigned bit) {
  Plane plane(plane_words(words.size()));
  for (std::size_t i = 0; i < words.size(); ++i) {
    plane[i / 64] |= static_cast<std::uint64_t>(words[i] >> bit & 1U) << (i % 64);
  }
  return plane;
}

/// Collects the distinct planes of a block.
class PlaneSet {
 public:
  std::uint16_t add(Plane plane) {
    const auto found = std::find(planes_.begin(), planes_.end(), plane);
    const auto index = static_cast<std::uint16_t>(found - planes_.begin());
    if (found == planes_.end()) {
      planes_.push_back(std::move(plane));
    }
    return index;
  }
  [[nodiscard]] const std::vector<Plane>& planes() const { return planes_; }

 private:
  std::vector<Plane> planes_;
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
    : grid_ns_(grid_ns),
      rate_hz_(rate_hz),
      last_time_ns_(grid_ns),
      last_end_ns_(grid_ns),
      previous_(register_count) {}

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

  // Between two bursts a bit may have changed often: the tick before is no neighbour.
  const bool continued =
      part.row.dropped_ticks == 0 &&
      (!rate_hz_ || part.row.start_ns - last_end_ns_ <= stamp_period_ns(rate_hz_, times));
  last_end_ns_ = part.row.end_ns;
  std::vector<Column> columns;
  for (std::size_t r = 0; r < previous_.size(); ++r) {
    Previous& before = previous_[r];
    const bool neighbour = before.valid && continued;
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
        column.summary.plane[bit] = planes.add(cut_plane(column.changed, bit));
      }
    }
  }
  for (Column& column : columns) {
    summary.registers.push_back(std::move(column.summary));
  }
  summary.plane_count = planes.planes().size();

  ByteWriter summary_bytes;
  write_summary(summary_bytes, summary);
  ByteWriter time_bytes;
  write_times(time_bytes, stamps, start_us, stamp_period_ns(rate_hz_, times));
  ByteWriter plane_bits;
  for (const Plane& plane : planes.planes()) {
    plane_bits.plane(plane, times.size());
  }
  encoded.counts = BlockCounts(summary, plane_bits.bytes());
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
