// The decoder of sample blocks on any bytes, against a plain loop over the ticks it returns.
//
// Input: register count, ticks (u16), flags, sizes of summary and times (u16 each), then the three
// pieces. Flag 1: the pieces are blobs as stored; else they are compressed here first, since no
// fuzzer finds its way through zstd.
#include <fmt/format.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <numeric>
#include <span>
#include <vector>

#include "daemon/store/block_payload.h"

namespace gputrace::test {
namespace {

using store::BlockCounts;
using store::BlockSummary;
using store::RegisterSummary;

constexpr std::size_t kMaxTicks = 4095;
constexpr std::int64_t kGridNs = 1'000'000'000'000;

struct Input {
  std::size_t registers = 0;
  store::BlockRow row;
  bool as_stored = false;
  std::span<const std::byte> summary;
  std::span<const std::byte> times;
  std::span<const std::byte> planes;
};

Input split(std::span<const std::byte> bytes) {
  store::ByteReader head(bytes.first(std::min<std::size_t>(bytes.size(), 8)));
  const auto u16 = [&] {
    const std::size_t low = head.byte();
    return low | static_cast<std::size_t>(head.byte()) << 8U;
  };
  Input input;
  input.registers = head.byte() % (sampler::kMaxRegisters + 1);
  input.row.ticks = u16() & kMaxTicks;
  input.as_stored = (head.byte() & 1U) != 0;
  const std::size_t summary = u16();
  const std::size_t times = u16();
  input.row.start_ns = kGridNs + 1'234'567'890;
  input.row.end_ns = input.row.start_ns + kNsPerSecond;
  bytes = bytes.subspan(std::min<std::size_t>(bytes.size(), 8));
  input.summary = bytes.first(std::min(summary, bytes.size()));
  bytes = bytes.subspan(input.summary.size());
  input.times = bytes.first(std::min(times, bytes.size()));
  input.planes = bytes.subspan(input.times.size());
  return input;
}

std::vector<std::byte> blob_of(store::Compressor& compressor, std::span<const std::byte> piece,
                               bool as_stored) {
  if (as_stored) {
    return {piece.begin(), piece.end()};
  }
  auto blob = compressor.compress(piece);
  GPUTRACE_CHECK(blob.has_value());
  return std::move(*blob);
}

/// What was read is written and read again as the same.
void check_summary(const BlockSummary& summary, const Input& input) {
  GPUTRACE_CHECK(std::accumulate(summary.cell_ticks.begin(), summary.cell_ticks.end(),
                                 std::size_t{0}) == input.row.ticks);
  store::ByteWriter out;
  store::write_summary(out, summary);
  const Result<BlockSummary> again =
      store::read_summary(out.bytes(), input.row.ticks, input.registers);
  GPUTRACE_CHECK(again && again->cell_ticks == summary.cell_ticks &&
                 again->plane_count == summary.plane_count);
  for (std::size_t r = 0; r < input.registers; ++r) {
    const RegisterSummary& reg = summary.registers[r];
    GPUTRACE_CHECK(again->registers[r].base == reg.base &&
                   again->registers[r].varying == reg.varying &&
                   again->registers[r].plane == reg.plane);
    for (unsigned bit = 0; bit < 32; ++bit) {
      GPUTRACE_CHECK((reg.varying >> bit & 1U) == 0 || reg.plane[bit] < summary.plane_count);
    }
  }
}

/// Counts of one bit, cell by cell, from the words.
void check_bit(const BlockSummary& summary, const BlockCounts& counts,
               const sampler::SampleBlock& block, std::size_t r, unsigned bit) {
  const auto words = block.words_of(r);
  const auto states = block.states_of(r);
  const auto valid = [&](std::size_t i) { return states[i] == sampler::SampleState::kValid; };
  std::size_t tick = 0;
  for (std::size_t cell = 0; cell < summary.cells(); ++cell) {
    BlockCounts::Bit expected;
    std::uint32_t known = 0;
    for (std::uint32_t i = 0; i < summary.cell_ticks[cell]; ++i, ++tick) {
      if (!valid(tick)) {
        continue;
      }
      ++known;
      expected.busy += words[tick] >> bit & 1U;
      if (tick == 0 || valid(tick - 1)) {
        const std::uint32_t before = tick == 0 ? summary.registers[r].base : words[tick - 1];
        expected.changes += (before ^ words[tick]) >> bit & 1U;
      }
    }
    GPUTRACE_CHECK(counts.states(r, cell).valid == known);
    GPUTRACE_CHECK(counts.bit(r, bit, cell).busy == expected.busy);
    GPUTRACE_CHECK(counts.bit(r, bit, cell).changes == expected.changes);
  }
}

void decode(std::span<const std::byte> bytes) {
  const Input input = split(bytes);
  store::Compressor compressor;
  store::BlockDecoder decoder(kGridNs, input.registers);
  const auto summary =
      decoder.decode_summary(input.row, blob_of(compressor, input.summary, input.as_stored));
  if (!summary) {
    GPUTRACE_CHECK(!summary.error().message.empty());
    return;
  }
  check_summary(*summary, input);
  const std::vector<std::byte> times = blob_of(compressor, input.times, input.as_stored);
  // Planes of the right size come from whatever bytes there are.
  std::vector<std::byte> raw(input.planes.begin(), input.planes.end());
  if (!input.as_stored) {
    raw.resize(summary->plane_count * store::plane_bytes(input.row.ticks));
  }
  const std::vector<std::byte> planes = blob_of(compressor, raw, input.as_stored);
  const auto counts = decoder.decode_counts(input.row, *summary, planes);
  GPUTRACE_CHECK(counts.has_value() || input.as_stored);
  sampler::SampleBlock block(input.registers, input.row.ticks + 1);
  const Status ticks = decoder.decode_ticks(input.row, *summary, times, planes, block);
  if (!counts || !ticks) {
    return;
  }
  const auto stamps = std::span(block.time_ns).first(block.size);
  GPUTRACE_CHECK(std::is_sorted(stamps.begin(), stamps.end()));
  for (std::size_t r = 0; r < input.registers; ++r) {
    for (unsigned bit = 0; bit < 32; ++bit) {
      check_bit(*summary, *counts, block, r, bit);
    }
  }
}

}  // namespace
}  // namespace gputrace::test

// NOLINTNEXTLINE(readability-identifier-naming): libFuzzer's name
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  gputrace::test::decode(std::as_bytes(std::span(data, size)));
  return 0;
}
