#include "cli/analysis/readings.h"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <limits>

namespace gputrace::analysis {
namespace {

double seconds_of(std::int64_t from_ns, std::int64_t to_ns) {
  return static_cast<double>(to_ns - from_ns) / 1e9;
}

/// Between the readings of one run; absent for a single one.
std::optional<double> spacing_inside(const ReadingRun& run) {
  return run.readings > 1 && run.end_ns > run.start_ns
             ? std::optional(static_cast<double>(run.end_ns - run.start_ns) / (run.readings - 1))
             : std::nullopt;
}

double gap_between(const ReadingRun& before, const ReadingRun& after) {
  return static_cast<double>(std::max<std::int64_t>(0, after.start_ns - before.end_ns));
}

}  // namespace

std::optional<SpokenFor::Spoken> SpokenFor::add(const ReadingRun& run) {
  waiting_.push_back(run);
  return waiting_.size() > 2 ? std::optional(take_first()) : std::nullopt;
}

std::optional<SpokenFor::Spoken> SpokenFor::finish() {
  return waiting_.empty() ? std::nullopt : std::optional(take_first());
}

SpokenFor::Spoken SpokenFor::take_first() {
  const ReadingRun run = waiting_.front();
  const std::optional<double> inside = spacing_inside(run);
  std::optional<double> gap_after;
  std::optional<double> half_after;
  if (waiting_.size() > 1) {
    gap_after = gap_between(run, waiting_[1]);
    const std::optional<double> before = inside ? inside : gap_before_;
    std::optional<double> after = spacing_inside(waiting_[1]);
    if (!after && waiting_.size() > 2) {
      after = gap_between(waiting_[1], waiting_[2]);
    }
    // Two readings and no more: there is nothing to compare with.
    const bool spoken_for =
        (!before && !after) ||
        *gap_after <= kGapFactor * std::max(before.value_or(0), after.value_or(0));
    half_after = spoken_for ? std::optional(*gap_after / 2) : std::nullopt;
  }
  const std::optional<double> own = inside ? std::optional(*inside / 2) : std::nullopt;
  const double left = half_before_.value_or(own.value_or(half_after.value_or(0)));
  const double right = half_after.value_or(own.value_or(half_before_.value_or(0)));
  const auto inside_shown = [this](std::int64_t at, double by) {
    const std::int64_t moved = at + static_cast<std::int64_t>(by);
    return std::clamp(moved, within_.start_ns, within_.end_ns);
  };
  const std::int64_t from = inside_shown(run.start_ns, -left);
  const std::int64_t to = std::max(from, inside_shown(run.end_ns, right));
  waiting_.erase(waiting_.begin());
  gap_before_ = gap_after;
  half_before_ = half_after;
  return {run, {from, to}};
}

std::vector<TimeRange> spoken_for(std::span<const ReadingRun> runs, const TimeRange& within) {
  std::vector<TimeRange> ranges;
  ranges.reserve(runs.size());
  SpokenFor spoken(within);
  for (const ReadingRun& run : runs) {
    if (const auto known = spoken.add(run)) {
      ranges.push_back(known->range);
    }
  }
  while (const auto known = spoken.finish()) {
    ranges.push_back(known->range);
  }
  return ranges;
}

void GaugeSums::add(const ReadingRun& run) {
  readings_ += run.readings;
  sum_ += run.value * run.readings;
  smallest_ = std::min(smallest_.value_or(run.value), run.value);
  largest_ = std::max(largest_.value_or(run.value), run.value);
  add(spoken_.add(run));
}

void GaugeSums::finish() {
  while (const std::optional<SpokenFor::Spoken> spoken = spoken_.finish()) {
    add(spoken);
  }
}

void GaugeSums::add(const std::optional<SpokenFor::Spoken>& spoken) {
  if (spoken) {
    const double seconds = seconds_of(spoken->range.start_ns, spoken->range.end_ns);
    integral_ += spoken->run.value * seconds;
    covered_s_ += seconds;
  }
}

void GaugeSums::merge(const GaugeSums& finished) {
  readings_ += finished.readings_;
  sum_ += finished.sum_;
  integral_ += finished.integral_;
  covered_s_ += finished.covered_s_;
  if (finished.smallest_) {
    smallest_ = std::min(smallest_.value_or(*finished.smallest_), *finished.smallest_);
  }
  largest_ = std::max(largest_, finished.largest_);  // absent is less than any
}

std::optional<double> GaugeSums::mean() const {
  if (readings_ == 0) {
    return std::nullopt;
  }
  const double mean =
      covered_s_ > 0 ? integral_ / covered_s_ : sum_ / static_cast<double>(readings_);
  // Sums of many terms are rounded: the mean of a constant is that constant.
  return std::clamp(mean, smallest_.value_or(mean), largest_.value_or(mean));
}

void CounterSums::add(const ReadingRun& run) {
  readings_ += run.readings;
  covered_s_ += seconds_of(run.start_ns, run.end_ns);
  if (last_ && run.value < last_->value) {
    ++resets_;
  } else if (last_) {
    total_ += run.value - last_->value;
    covered_s_ += seconds_of(last_->end_ns, run.start_ns);
  }
  last_ = run;
}

void CounterSums::merge(const CounterSums& other) {
  readings_ += other.readings_;
  resets_ += other.resets_;
  total_ += other.total_;
  covered_s_ += other.covered_s_;
}

std::optional<double> CounterSums::total() const {
  return covered_s_ > 0 ? std::optional(total_) : std::nullopt;
}

std::optional<std::uint32_t> bits_of(double value) {
  if (!(value >= 0) || value > std::numeric_limits<std::uint32_t>::max()) {
    return std::nullopt;
  }
  return static_cast<std::uint32_t>(value);
}

void BitSums::add(const ReadingRun& run) {
  if (const std::optional<std::uint32_t> bits = bits_of(run.value)) {
    merge({run.readings, *bits, *bits});
  }
}

void BitSums::merge(const BitSums& other) {
  if (other.readings > 0) {
    ever |= other.ever;
    always = readings == 0 ? other.always : always & other.always;
    readings += other.readings;
  }
}

std::optional<double> SeriesCursor::at(std::int64_t time_ns) {
  while (next_ < ranges_.size() && ranges_[next_].end_ns <= time_ns) {
    ++next_;
  }
  return next_ < ranges_.size() && ranges_[next_].start_ns <= time_ns
             ? std::optional(runs_[next_].value)
             : std::nullopt;
}

std::optional<double> quantile(std::span<double> values, double q) {
  if (values.empty()) {
    return std::nullopt;
  }
  const auto size = static_cast<double>(values.size());
  const double rank = std::clamp(std::ceil(q * size), 1.0, size);
  const auto nth = values.begin() + static_cast<std::ptrdiff_t>(rank) - 1;
  std::nth_element(values.begin(), nth, values.end());
  return *nth;
}

}  // namespace gputrace::analysis
