// One second of samples, in columns. Filled by the sampling loop, taken apart by the writer.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "daemon/sampler/register_reader.h"

namespace gputrace::sampler {

/// Lateness of reads against their random instants: bucket 0 holds [0,1) us, bucket i holds
/// [2^((i-1)/4), 2^(i/4)) us (quarter octaves), the last one everything above.
inline constexpr std::size_t kLatenessBuckets = 96;

/// Totals since the segment began; every block carries its state at the block's end, so a file that
/// was cut still has them to within two seconds.
struct SamplingTotals {
  std::uint64_t ticks = 0;          ///< periods in which a read took place, asleep and unknown too
  std::uint64_t missed = 0;         ///< periods that ended before their read began
  std::uint64_t dropped_ticks = 0;  ///< read, but no block was free to keep them
  std::array<std::uint32_t, kLatenessBuckets> lateness{};
  std::array<std::uint64_t, kMaxRegisters> read_cost_ns{};  ///< summed over `reads`
  std::array<std::uint64_t, kMaxRegisters> reads{};
  std::int64_t cpu_ns = 0;  ///< of the whole process: sampling, packing and writing

  SamplingTotals& operator+=(const SamplingTotals& more) noexcept {
    return combine(more, [](auto& mine, auto other) { mine += other; });
  }
  /// Since an earlier state of the same totals.
  SamplingTotals& operator-=(const SamplingTotals& earlier) noexcept {
    return combine(earlier, [](auto& mine, auto other) { mine -= other; });
  }

 private:
  template <class Operation>
  SamplingTotals& combine(const SamplingTotals& other, Operation apply) noexcept {
    apply(ticks, other.ticks);
    apply(missed, other.missed);
    apply(dropped_ticks, other.dropped_ticks);
    apply(cpu_ns, other.cpu_ns);
    for (std::size_t i = 0; i < kLatenessBuckets; ++i) {
      apply(lateness[i], other.lateness[i]);
    }
    for (std::size_t i = 0; i < kMaxRegisters; ++i) {
      apply(read_cost_ns[i], other.read_cost_ns[i]);
      apply(reads[i], other.reads[i]);
    }
    return *this;
  }
};

/// A new set of registers: rides on the first block of each segment.
struct SegmentStart {
  std::vector<OfferedRegister> registers;  ///< empty = nothing is left to read: the last block
  std::vector<LostRegister> lost;          ///< why the segment before ended; empty for the first
};

struct SampleBlock {
  SampleBlock(std::size_t register_capacity, std::size_t tick_capacity)
      : capacity(tick_capacity),
        time_ns(tick_capacity),
        words(register_capacity * tick_capacity),
        states(register_capacity * tick_capacity, SampleState::kAbsent) {}

  [[nodiscard]] std::span<std::uint32_t> words_of(std::size_t reg) {
    return std::span(words).subspan(reg * capacity, size);
  }
  [[nodiscard]] std::span<const std::uint32_t> words_of(std::size_t reg) const {
    return std::span(words).subspan(reg * capacity, size);
  }
  [[nodiscard]] std::span<const SampleState> states_of(std::size_t reg) const {
    return std::span(states).subspan(reg * capacity, size);
  }

  std::size_t register_count = 0;  ///< in use, at most as many as constructed for
  std::size_t capacity;            ///< ticks
  std::size_t size = 0;            ///< ticks filled
  std::int64_t start_ns = 0;       ///< CLOCK_MONOTONIC span that this block speaks for
  std::int64_t end_ns = 0;
  std::uint32_t missed = 0;         ///< periods missed in this block's span
  std::uint32_t dropped_ticks = 0;  ///< ticks dropped between the block before and this one
  std::uint32_t flush = 0;          ///< the latest SamplingLoop::request_flush() that it answers
  SamplingTotals totals;
  std::shared_ptr<const SegmentStart> segment_start;  ///< set in the first block of a segment

  std::vector<std::int64_t> time_ns;  ///< [tick], when the read began
  std::vector<std::uint32_t> words;   ///< [reg * capacity + tick]
  std::vector<SampleState> states;    ///< [reg * capacity + tick]
};

}  // namespace gputrace::sampler
