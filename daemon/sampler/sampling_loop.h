// The fast loop: one sample per period, at a random instant inside it.
#pragma once

#include <atomic>
#include <cstdint>
#include <memory>
#include <optional>
#include <random>
#include <span>
#include <stop_token>
#include <vector>

#include "daemon/base/time.h"
#include "daemon/sampler/block_queue.h"
#include "daemon/sampler/burst.h"
#include "daemon/sampler/register_reader.h"

namespace gputrace::sampler {

inline constexpr double kMinRateHz = 1;
inline constexpr double kMaxRateHz = 20'000;
inline constexpr double kDefaultRateHz = 1'000;

struct SamplingOptions {
  double rate_hz = kDefaultRateHz;
  std::uint64_t seed = 1;  ///< of the instants
  std::int64_t block_ns = kNsPerSecond;
  /// At least a period long. Periods that begin outside of a burst are neither sampled nor missed.
  std::optional<Burst> burst = std::nullopt;
};

/// Ticks that a block must be able to hold for these options (one more than fit, for rounding).
[[nodiscard]] std::size_t block_capacity(const SamplingOptions& options);

/// Period k is [start + k P, start + (k+1) P). The read is due at a random instant inside it:
/// stratified sampling, which cannot beat with frames (docs/methodology.md). The instant is uniform
/// in the period less its last 20 us (at most half of it), so that a sleep that ends a little late
/// still leaves time to read. A period that has ended before its read began is missed and counted;
/// a late read inside its period is kept. No period is read twice or later, so a stall of any
/// length is followed by no burst.
///
/// A block holds the periods that begin in one stretch of `block_ns` of this grid and is submitted
/// when the last of them has ended. Blocks of a segment tile its time: each starts where the one
/// before ended, also after a stall (that block then spans all that was missed), but not where
/// ticks were dropped. A block may hold no tick: then it brings totals.
///
/// With bursts a block ends with its burst at the latest, and blocks do not tile: the rest between
/// two bursts belongs to none.
class SamplingLoop {
 public:
  SamplingLoop(RegisterReader& reader, BlockQueue& queue, Clock& clock, SamplingOptions options);

  /// Samples until `stop` is requested or the reader offers nothing more; submits the block in
  /// hand, closes the queue. Allocates only when a segment begins. The caller sets the thread's
  /// scheduling.
  void run(const std::stop_token& stop);

  /// Sampling thread, before run(): keeps the pool and the stack that run() will use in RAM.
  /// Sampling works without it; the caller may say so.
  [[nodiscard]] Status pin_memory() const;

  /// Any thread: the block in hand is wanted now, as soon as a read in progress returns. Returns
  /// the number that SampleBlock::flush of the answer has or passes; that block may be empty.
  std::uint32_t request_flush() noexcept {
    return flush_wanted_.fetch_add(1, std::memory_order_acq_rel) + 1;
  }
  /// Any thread: when the read in progress began; 0 = none is.
  [[nodiscard]] std::int64_t read_began_ns() const noexcept {
    return read_began_ns_.load(std::memory_order_relaxed);
  }

 private:
  [[nodiscard]] std::int64_t period_start(std::uint64_t period) const noexcept;
  [[nodiscard]] std::uint64_t period_of(std::int64_t time_ns) const noexcept;
  [[nodiscard]] std::uint64_t block_end_for(std::uint64_t period) const noexcept;
  [[nodiscard]] std::uint64_t first_period_from(std::int64_t time_ns) const noexcept;
  /// The first one from `period` on that a burst wants; without bursts `period` itself.
  [[nodiscard]] std::uint64_t next_wanted(std::uint64_t period) const noexcept;
  [[nodiscard]] std::uint64_t burst_end_for(std::uint64_t period) const noexcept;
  [[nodiscard]] std::int64_t random_instant(std::uint64_t period) noexcept;

  void begin_segment(std::vector<LostRegister> lost);
  [[nodiscard]] std::optional<std::int64_t> wait_until(std::int64_t due_ns,
                                                       const std::stop_token& stop) noexcept;
  void end_due_block(std::int64_t now_ns) noexcept;
  void flush_when_asked(std::int64_t now_ns) noexcept;
  void learn_lateness(std::int64_t late_ns) noexcept;
  void skip_missed(std::int64_t now_ns) noexcept;
  void skip_missed_bursts(std::uint64_t current) noexcept;
  void count_missed(std::uint64_t periods) noexcept;
  /// True when a register was lost.
  [[nodiscard]] bool take_sample(std::int64_t due_ns, std::int64_t now_ns) noexcept;
  void count_sample(std::int64_t late_ns, std::span<const std::uint32_t> cost_ns) noexcept;
  void keep_sample(std::int64_t now_ns, std::span<const std::uint32_t> words,
                   std::span<const SampleState> states) noexcept;
  [[nodiscard]] bool ensure_block() noexcept;
  void submit_block(std::int64_t end_ns) noexcept;
  [[nodiscard]] std::int64_t end_before_next_period() noexcept;

  RegisterReader& reader_;
  BlockQueue& queue_;
  Clock& clock_;
  SamplingOptions options_;
  double period_ns_;
  std::mt19937_64 instants_;

  std::int64_t grid_start_ns_ = 0;
  std::int64_t usual_lateness_ns_ = 0;  ///< of sleeps, learnt
  std::uint64_t period_ = 0;            ///< the next one to sample
  std::uint64_t block_end_period_ = 0;  ///< the first one after the block in hand

  SampleBlock* block_ = nullptr;  ///< in hand, from its first tick on
  std::int64_t block_start_ns_ = 0;
  std::int64_t last_tick_ns_ = 0;
  std::uint32_t block_missed_ = 0;
  std::uint32_t dropped_before_block_ = 0;
  std::shared_ptr<const SegmentStart> segment_start_;  ///< until a block has taken it along

  SamplingTotals totals_;
  std::int64_t cpu_start_ns_ = 0;

  std::atomic<std::uint32_t> flush_wanted_{0};
  std::uint32_t flushed_ = 0;
  std::atomic<std::int64_t> read_began_ns_{0};
};

}  // namespace gputrace::sampler
