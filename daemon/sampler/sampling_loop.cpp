#include "daemon/sampler/sampling_loop.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <utility>

#include "daemon/sampler/lateness.h"

namespace gputrace::sampler {

namespace {

// A stop request is noticed within this time. Sleeping in slices needs no second wait primitive
// beside clock_nanosleep, whose absolute deadlines are the most punctual of all, and costs
// nothing from 100 Hz up, where the sleeps are shorter anyway.
constexpr std::int64_t kStopSliceNs = 10 * kNsPerMs;
// Between bursts, which may be hours of somebody's battery, a stop may wait longer.
constexpr std::int64_t kRestSliceNs = 50 * kNsPerMs;

// Timers end sleeps late, by 20 to 30 us on an idle machine, which at 20 kHz is half a period. So
// the loop learns the median lateness, one step a tick, and wakes that much earlier; what is left
// is the spread, 10 us at the 99th percentile. More than kMostUsualNs is load, not the timer: an
// instant is not moved for it.
constexpr std::int64_t kLearningStepNs = 1'000;
constexpr std::int64_t kMostUsualNs = 50'000;

// No instant is drawn nearer than that spread to the end of its period, where the sleep would end
// in the next one: 2 % of the period at 1 kHz.
constexpr std::int64_t kWakeMarginNs = 20'000;

constexpr std::uint32_t kAllOnesWord = 0xffffffff;

double period_of_rate(double rate_hz) {
  GPUTRACE_CHECK(rate_hz >= kMinRateHz && rate_hz <= kMaxRateHz);
  return static_cast<double>(kNsPerSecond) / rate_hz;
}

}  // namespace

std::size_t block_capacity(const SamplingOptions& options) {
  const double periods = static_cast<double>(options.block_ns) / period_of_rate(options.rate_hz);
  return static_cast<std::size_t>(std::ceil(periods)) + 1;
}

SamplingLoop::SamplingLoop(RegisterReader& reader, BlockQueue& queue, Clock& clock,
                           SamplingOptions options)
    : reader_(reader),
      queue_(queue),
      clock_(clock),
      options_(options),
      period_ns_(period_of_rate(options.rate_hz)),
      instants_(options.seed) {
  if (const std::optional<Burst>& burst = options_.burst) {
    GPUTRACE_CHECK(static_cast<double>(burst->length_ns) >= period_ns_);
    GPUTRACE_CHECK(burst->length_ns <= burst->every_ns);
  }
}

Status SamplingLoop::pin_memory() const {
  // run() will use the same stretch of stack that this array covers now.
  const std::array<std::byte, std::size_t{64} * 1024> stack{};
  if (const Status status = lock_memory(stack.data(), stack.size()); !status) {
    return fail(status.error(), "the sampling thread's stack may be paged out");
  }
  return queue_.lock_pool();
}

void SamplingLoop::run(const std::stop_token& stop) {
  grid_start_ns_ = clock_.now_ns();
  period_ = next_wanted(0);
  block_start_ns_ = period_start(period_);
  block_end_period_ = block_end_for(period_);
  begin_segment({});
  while (!reader_.registers().empty()) {
    const std::int64_t due_ns = random_instant(period_);
    const std::optional<std::int64_t> now_ns = wait_until(due_ns, stop);
    if (!now_ns) {
      break;
    }
    if (*now_ns >= period_start(period_ + 1)) {
      skip_missed(*now_ns);
      continue;
    }
    if (reader_.is_over(*now_ns)) {
      break;
    }
    const bool lost = take_sample(due_ns, *now_ns);
    period_ = next_wanted(period_ + 1);
    if (lost) {
      submit_block(end_before_next_period());
      begin_segment(reader_.drop_lost());
    }
  }
  if (block_ == nullptr && (dropped_before_block_ > 0 || block_missed_ > 0 || segment_start_)) {
    block_start_ns_ = std::min(block_start_ns_, clock_.now_ns());
    static_cast<void>(ensure_block());
  }
  submit_block(end_before_next_period());
  queue_.close();
}

/// Deadlines are computed from the grid's start, never from the tick before: nothing drifts. A
/// double holds whole nanoseconds up to 104 days.
std::int64_t SamplingLoop::period_start(std::uint64_t period) const noexcept {
  return grid_start_ns_ + std::llround(static_cast<double>(period) * period_ns_);
}

std::uint64_t SamplingLoop::period_of(std::int64_t time_ns) const noexcept {
  auto period =
      static_cast<std::uint64_t>(static_cast<double>(time_ns - grid_start_ns_) / period_ns_);
  while (period > 0 && period_start(period) > time_ns) {
    --period;
  }
  while (period_start(period + 1) <= time_ns) {
    ++period;
  }
  return period;
}

std::uint64_t SamplingLoop::block_end_for(std::uint64_t period) const noexcept {
  const std::int64_t blocks = (period_start(period) - grid_start_ns_) / options_.block_ns + 1;
  const std::int64_t end_ns = grid_start_ns_ + blocks * options_.block_ns;
  return std::min(first_period_from(end_ns), burst_end_for(period));
}

std::uint64_t SamplingLoop::first_period_from(std::int64_t time_ns) const noexcept {
  const std::uint64_t period = period_of(time_ns);
  return period_start(period) == time_ns ? period : period + 1;
}

std::uint64_t SamplingLoop::next_wanted(std::uint64_t period) const noexcept {
  if (!options_.burst) {
    return period;
  }
  const std::int64_t start_ns = period_start(period);
  const std::int64_t window_ns = options_.burst->window_from(start_ns);
  return window_ns <= start_ns ? period : first_period_from(window_ns);
}

/// The first period after the burst that `period` begins in.
std::uint64_t SamplingLoop::burst_end_for(std::uint64_t period) const noexcept {
  if (!options_.burst) {
    return std::numeric_limits<std::uint64_t>::max();
  }
  const std::int64_t window_ns = options_.burst->window_from(period_start(period));
  return first_period_from(window_ns + options_.burst->length_ns);
}

std::int64_t SamplingLoop::random_instant(std::uint64_t period) noexcept {
  const std::int64_t start_ns = period_start(period);
  const std::int64_t length_ns = period_start(period + 1) - start_ns;
  const std::int64_t drawn_from_ns = length_ns - std::min(kWakeMarginNs, length_ns / 2);
  // 53 random bits in [0,1); std::uniform_real_distribution may return 1 (LWG 2524).
  const double share = static_cast<double>(instants_() >> 11U) * 0x1p-53;
  return start_ns + static_cast<std::int64_t>(share * static_cast<double>(drawn_from_ns));
}

void SamplingLoop::begin_segment(std::vector<LostRegister> lost) {
  auto segment = std::make_shared<SegmentStart>();
  if (segment_start_) {  // no block was free to announce the one before
    segment->lost = segment_start_->lost;
  }
  segment->lost.insert(segment->lost.end(), std::make_move_iterator(lost.begin()),
                       std::make_move_iterator(lost.end()));
  const std::span<const OfferedRegister> offered = reader_.registers();
  GPUTRACE_CHECK(offered.size() <= kMaxRegisters);
  segment->registers.assign(offered.begin(), offered.end());
  segment_start_ = std::move(segment);

  totals_ = {};
  totals_.dropped_ticks = dropped_before_block_;  // no block of their own segment could say so
  cpu_start_ns_ = process_cpu_time_ns();
}

std::optional<std::int64_t> SamplingLoop::wait_until(std::int64_t due_ns,
                                                     const std::stop_token& stop) noexcept {
  const std::int64_t wake_ns = std::max(due_ns - usual_lateness_ns_, period_start(period_));
  bool slept = false;
  while (!stop.stop_requested()) {
    const std::int64_t now_ns = clock_.now_ns();
    end_due_block(now_ns);
    flush_when_asked(now_ns);
    if (now_ns >= wake_ns) {
      if (slept) {
        learn_lateness(now_ns - wake_ns);
      }
      return now_ns;
    }
    const bool resting = options_.burst && block_ == nullptr && now_ns < period_start(period_);
    clock_.sleep_until(std::min(wake_ns, now_ns + (resting ? kRestSliceNs : kStopSliceNs)));
    slept = true;
  }
  return std::nullopt;
}

void SamplingLoop::end_due_block(std::int64_t now_ns) noexcept {
  if (period_ < block_end_period_ || now_ns < period_start(block_end_period_)) {
    return;
  }
  submit_block(period_start(block_end_period_));
  if (options_.burst) {
    block_start_ns_ = period_start(period_);  // the rest belongs to no block
  }
  block_end_period_ = block_end_for(period_);
}

/// Without a free block the request stays: it is met with the first one that is.
void SamplingLoop::flush_when_asked(std::int64_t now_ns) noexcept {
  const std::uint32_t wanted = flush_wanted_.load(std::memory_order_acquire);
  if (wanted == flushed_) {
    return;
  }
  const std::int64_t planned_start_ns = block_start_ns_;
  if (block_ == nullptr) {
    block_start_ns_ = std::min(block_start_ns_, now_ns);
  }
  if (ensure_block()) {
    flushed_ = wanted;
    // A block without anything to say is kept by nobody: its time belongs to the next one.
    const bool is_empty = block_->size == 0 && block_missed_ == 0 && block_->dropped_ticks == 0;
    submit_block(is_empty ? block_->start_ns : end_before_next_period());
  }
  block_start_ns_ = std::max(block_start_ns_, planned_start_ns);
}

/// Equal steps up and down settle where as many sleeps end later as earlier: at the median.
void SamplingLoop::learn_lateness(std::int64_t late_ns) noexcept {
  usual_lateness_ns_ += late_ns > usual_lateness_ns_ ? kLearningStepNs : -kLearningStepNs;
  usual_lateness_ns_ = std::clamp(usual_lateness_ns_, std::int64_t{0}, kMostUsualNs);
}

/// Goes on with the period that `now_ns` lies in; its own instant is then drawn afresh.
void SamplingLoop::skip_missed(std::int64_t now_ns) noexcept {
  const std::uint64_t current = period_of(now_ns);
  if (current >= block_end_period_) {
    count_missed(block_end_period_ - period_);
    period_ = block_end_period_;
    submit_block(period_start(period_));
    if (options_.burst) {
      skip_missed_bursts(current);
      return;
    }
    block_end_period_ = block_end_for(current);
  }
  count_missed(current - period_);
  period_ = current;
}

/// Periods of the rest are not missed.
void SamplingLoop::skip_missed_bursts(std::uint64_t current) noexcept {
  period_ = next_wanted(period_);
  while (period_ < current) {
    const std::uint64_t end = std::min(burst_end_for(period_), current);
    count_missed(end - period_);
    period_ = next_wanted(end);
  }
  block_start_ns_ = period_start(period_);
  block_end_period_ = block_end_for(period_);
}

void SamplingLoop::count_missed(std::uint64_t periods) noexcept {
  totals_.missed += periods;
  block_missed_ += static_cast<std::uint32_t>(periods);
}

bool SamplingLoop::take_sample(std::int64_t due_ns, std::int64_t now_ns) noexcept {
  const std::size_t count = reader_.registers().size();
  std::array<std::uint32_t, kMaxRegisters> words{};
  std::array<SampleState, kMaxRegisters> states{};
  std::array<std::uint32_t, kMaxRegisters> cost_ns{};
  read_began_ns_.store(now_ns, std::memory_order_relaxed);
  reader_.read(now_ns, {std::span(words).first(count), std::span(states).first(count),
                        std::span(cost_ns).first(count)});
  read_began_ns_.store(0, std::memory_order_relaxed);
  bool lost = false;
  for (std::size_t i = 0; i < count; ++i) {
    if (states[i] == SampleState::kValid && words[i] == kAllOnesWord) {
      states[i] = SampleState::kAllOnes;
    }
    if (states[i] != SampleState::kValid) {
      words[i] = 0;  // says nothing, and packs best
    }
    lost = lost || states[i] == SampleState::kLost;
  }
  count_sample(std::max(now_ns - due_ns, std::int64_t{0}), std::span(cost_ns).first(count));
  keep_sample(now_ns, std::span(words).first(count), std::span(states).first(count));
  return lost;
}

void SamplingLoop::count_sample(std::int64_t late_ns,
                                std::span<const std::uint32_t> cost_ns) noexcept {
  ++totals_.ticks;
  std::uint32_t& bucket = totals_.lateness[lateness_bucket(late_ns)];
  bucket += bucket == std::numeric_limits<std::uint32_t>::max() ? 0 : 1;
  for (std::size_t i = 0; i < cost_ns.size(); ++i) {
    totals_.read_cost_ns[i] += cost_ns[i];
    totals_.reads[i] += cost_ns[i] == 0 ? 0 : 1;
  }
}

void SamplingLoop::keep_sample(std::int64_t now_ns, std::span<const std::uint32_t> words,
                               std::span<const SampleState> states) noexcept {
  if (!ensure_block()) {
    ++totals_.dropped_ticks;
    ++dropped_before_block_;
    block_start_ns_ = period_start(period_ + 1);
    block_missed_ = 0;
    return;
  }
  const std::size_t tick = block_->size++;
  block_->time_ns[tick] = now_ns;
  for (std::size_t i = 0; i < words.size(); ++i) {
    block_->words[i * block_->capacity + tick] = words[i];
    block_->states[i * block_->capacity + tick] = states[i];
  }
  last_tick_ns_ = now_ns;
}

bool SamplingLoop::ensure_block() noexcept {
  if (block_ != nullptr) {
    return true;
  }
  block_ = queue_.acquire();
  if (block_ == nullptr) {
    return false;
  }
  const std::size_t registers =
      segment_start_ ? segment_start_->registers.size() : reader_.registers().size();
  GPUTRACE_CHECK(block_->capacity >= block_capacity(options_));
  GPUTRACE_CHECK(block_->words.size() >= registers * block_->capacity);
  block_->size = 0;
  block_->register_count = registers;
  block_->start_ns = block_start_ns_;
  block_->dropped_ticks = std::exchange(dropped_before_block_, 0);
  block_->segment_start = std::move(segment_start_);
  segment_start_ = nullptr;
  last_tick_ns_ = block_start_ns_ - 1;
  return true;
}

void SamplingLoop::submit_block(std::int64_t end_ns) noexcept {
  if (block_ == nullptr) {
    return;
  }
  totals_.cpu_ns = process_cpu_time_ns() - cpu_start_ns_;
  block_->end_ns = end_ns;
  block_->missed = std::exchange(block_missed_, 0);
  block_->flush = flushed_;
  block_->totals = totals_;
  queue_.submit(std::exchange(block_, nullptr));
  block_start_ns_ = end_ns;
}

/// A block that is cut short speaks for no time that has not come yet, yet holds its last tick.
std::int64_t SamplingLoop::end_before_next_period() noexcept {
  const std::int64_t end_ns = std::min(period_start(period_), clock_.now_ns());
  return block_ == nullptr ? end_ns : std::max(end_ns, last_tick_ns_ + 1);
}

}  // namespace gputrace::sampler
