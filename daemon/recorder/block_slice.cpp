#include "daemon/recorder/block_slice.h"

#include <algorithm>
#include <cmath>

namespace gputrace::recorder {

namespace {

/// `value` times part / whole, rounded.
template <class T>
T scaled(T value, std::size_t part, std::size_t whole) {
  return static_cast<T>(std::llround(static_cast<double>(value) * static_cast<double>(part) /
                                     static_cast<double>(whole)));
}

sampler::SamplingTotals scaled_totals(const sampler::SamplingTotals& added, std::size_t part,
                                      std::size_t whole) {
  sampler::SamplingTotals totals;
  totals.ticks = part;
  if (part == 0) {
    return totals;
  }
  totals.cpu_ns = scaled(added.cpu_ns, part, whole);
  for (std::size_t i = 0; i < sampler::kLatenessBuckets; ++i) {
    totals.lateness[i] = scaled(added.lateness[i], part, whole);
  }
  for (std::size_t i = 0; i < sampler::kMaxRegisters; ++i) {
    totals.read_cost_ns[i] = scaled(added.read_cost_ns[i], part, whole);
    totals.reads[i] = scaled(added.reads[i], part, whole);
  }
  return totals;
}

}  // namespace

std::unique_ptr<sampler::SampleBlock> slice_block(const sampler::SampleBlock& block,
                                                  const sampler::SamplingTotals& added,
                                                  double rate_hz, std::int64_t from_ns,
                                                  std::int64_t to_ns) {
  const auto times = block.time_ns.begin();
  const auto end = times + static_cast<std::ptrdiff_t>(block.size);
  const auto first = std::lower_bound(times, end, from_ns);
  const auto last = std::lower_bound(first, end, to_ns);
  const auto begin = static_cast<std::size_t>(first - times);
  const auto size = static_cast<std::size_t>(last - first);

  auto part = std::make_unique<sampler::SampleBlock>(block.register_count, size);
  part->register_count = block.register_count;
  part->size = size;
  // A block that begins after `to_ns` has no share: its part is the empty one at the end of the
  // last.
  part->start_ns = std::min(std::max(block.start_ns, from_ns), to_ns);
  part->end_ns = std::max(part->start_ns, std::min(block.end_ns, to_ns));
  part->flush = block.flush;
  std::copy(first, last, part->time_ns.begin());
  for (std::size_t reg = 0; reg < block.register_count; ++reg) {
    const auto words = block.words_of(reg).subspan(begin, size);
    const auto states = block.states_of(reg).subspan(begin, size);
    const auto at = static_cast<std::ptrdiff_t>(reg * size);
    std::copy(words.begin(), words.end(), part->words.begin() + at);
    std::copy(states.begin(), states.end(), part->states.begin() + at);
  }
  if (from_ns <= block.start_ns && to_ns >= block.end_ns) {
    part->missed = block.missed;
    part->dropped_ticks = block.dropped_ticks;
    part->totals = added;
    return part;
  }
  const double seconds = static_cast<double>(part->end_ns - part->start_ns) / 1e9;
  const auto periods = static_cast<std::int64_t>(std::floor(seconds * rate_hz));
  part->missed = static_cast<std::uint32_t>(std::clamp(periods - static_cast<std::int64_t>(size),
                                                       std::int64_t{0},
                                                       static_cast<std::int64_t>(block.missed)));
  part->totals = scaled_totals(added, size, block.size);
  part->totals.missed = part->missed;
  // What was dropped lies before the block: no part that begins later has a share in it.
  if (from_ns <= block.start_ns) {
    part->dropped_ticks = block.dropped_ticks;
    part->totals.dropped_ticks = added.dropped_ticks;
    part->totals.ticks += added.dropped_ticks;
  }
  return part;
}

}  // namespace gputrace::recorder
