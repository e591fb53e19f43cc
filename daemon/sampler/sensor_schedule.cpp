#include "daemon/sampler/sensor_schedule.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <utility>

namespace gputrace::sampler {

namespace {

// A metrics table is torn now and then; firmware that starts up answers zeros for a second. Two
// seconds of nothing else at the usual rate mean that the source does not work.
constexpr std::uint32_t kMostRejected = 20;
// Reads of a slow source take no more than this part of the time.
constexpr std::int64_t kSlowShare = 100;
// Of reads, before their usual cost is known.
constexpr std::size_t kFewestCosts = 3;

double seconds(std::int64_t ns) {
  return static_cast<double>(ns) / static_cast<double>(kNsPerSecond);
}

}  // namespace

SensorSchedule::SensorSchedule(std::vector<Source> sources, const SensorLoopOptions& options)
    : deadline_ns_(options.deadline_ns),
      slow_ns_(options.slow_ns),
      first_retry_ns_(options.first_retry_ns),
      last_retry_ns_(options.last_retry_ns),
      states_(sources.size()) {
  progress_.reserve(sources.size());
  for (Source& source : sources) {
    progress_.emplace_back().source = std::move(source);
  }
}

void SensorSchedule::set_period(double period_ns) {
  period_ns_ = period_ns;
  for (std::uint32_t source = 0; source < progress_.size(); ++source) {
    progress_[source].next_ns = 0;
    tell_rate(source);
  }
}

/// A whole number of periods.
std::int64_t SensorSchedule::distance_ns(const Progress& progress) const {
  const double wanted_ns =
      std::max({period_ns_, static_cast<double>(kNsPerSecond) / progress.source.max_rate_hz,
                static_cast<double>(progress.slow_ns * kSlowShare)});
  const double periods = std::ceil(wanted_ns / period_ns_ - 1e-6);
  return std::llround(periods * period_ns_);
}

void SensorSchedule::tell_rate(std::uint32_t source) {
  const Progress& progress = progress_[source];
  states_[source].rate_hz =
      progress.left_alone
          ? 0
          : static_cast<double>(kNsPerSecond) /
                static_cast<double>(std::max<std::int64_t>(distance_ns(progress), 1));
}

void SensorSchedule::due(std::int64_t tick_ns, std::vector<std::uint32_t>& sources) {
  const auto rounding_ns = static_cast<std::int64_t>(period_ns_ / 2);
  for (std::uint32_t source = 0; source < progress_.size(); ++source) {
    Progress& progress = progress_[source];
    const std::int64_t from_ns =
        progress.left_alone ? progress.next_ns : progress.next_ns - rounding_ns;
    if (!progress.hangs && tick_ns >= from_ns) {
      sources.push_back(source);
      progress.next_ns = tick_ns + distance_ns(progress);
    }
  }
}

void SensorSchedule::finish(const Result& result) {
  Progress& progress = progress_[result.source];
  SensorSourceState& state = states_[result.source];
  progress.may_be_open = result.outcome != Outcome::kAsleep;
  if (result.outcome == Outcome::kAsleep) {
    return;
  }
  count_cost(result.source, result.end_ns - result.begin_ns, result.end_ns);
  switch (result.outcome) {
    case Outcome::kRead:
      ++state.reads;
      succeed(result.source, result.end_ns);
      break;
    case Outcome::kRejected:
      ++state.rejected;
      if (progress.left_alone || ++progress.rejected_in_a_row >= kMostRejected) {
        fail(result.source, result.end_ns, "sensor_lost",
             fmt::format("{}: {} answers in a row cannot be true ({})", progress.source.name,
                         kMostRejected, result.error),
             result.error);
      }
      break;
    case Outcome::kFailed:
      ++state.failed;
      fail(result.source, result.end_ns, "sensor_lost",
           fmt::format("{} cannot be read ({})", progress.source.name, result.error), result.error);
      break;
    case Outcome::kAsleep:
      break;
  }
  tell_rate(result.source);
}

/// The median of the last reads, so that one outlier changes nothing.
void SensorSchedule::count_cost(std::uint32_t source, std::int64_t cost_ns, std::int64_t now_ns) {
  Progress& progress = progress_[source];
  SensorSourceState& state = states_[source];
  state.cost_ns += static_cast<std::uint64_t>(cost_ns);
  state.worst_ns = std::max(state.worst_ns, static_cast<std::uint64_t>(cost_ns));
  progress.costs_ns[progress.cost_count++ % kCosts] = cost_ns;
  const std::size_t known = std::min(progress.cost_count, kCosts);
  if (known < kFewestCosts) {
    return;
  }
  std::array<std::int64_t, kCosts> sorted = progress.costs_ns;
  std::sort(sorted.begin(), sorted.begin() + static_cast<std::ptrdiff_t>(known));
  const std::int64_t usual_ns = sorted[known / 2];
  // Half the limit, so that a source at the limit does not come and go.
  const bool slow = usual_ns > (progress.slow_ns > 0 ? slow_ns_ / 2 : slow_ns_);
  progress.slow_ns = slow ? usual_ns : 0;
  if (!slow) {
    return;
  }
  progress.next_ns = std::max(progress.next_ns, now_ns + usual_ns * (kSlowShare - 1));
  const std::string text =
      fmt::format("{} takes {:.1f} ms a read; it is read every {:.1f} s", progress.source.name,
                  seconds(usual_ns) * 1e3, seconds(distance_ns(progress)));
  state.problem = text;
  if (!std::exchange(progress.told_slow, true)) {
    notices_.push_back({now_ns, "sensor_slow", text});
  }
}

void SensorSchedule::succeed(std::uint32_t source, std::int64_t now_ns) {
  Progress& progress = progress_[source];
  progress.rejected_in_a_row = 0;
  if (progress.slow_ns == 0) {
    states_[source].problem.clear();
  }
  if (std::exchange(progress.left_alone, false)) {
    progress.back_since_ns = now_ns;
    notices_.push_back({now_ns, "sensor_back",
                        fmt::format("{} is read again after {:.1f} s", progress.source.name,
                                    seconds(now_ns - progress.failed_since_ns))});
  }
}

void SensorSchedule::fail(std::uint32_t source, std::int64_t now_ns, const char* kind,
                          const std::string& text, std::string problem) {
  Progress& progress = progress_[source];
  // One that comes and goes waits longer each time, as if it had not come.
  const bool came_and_went =
      progress.back_since_ns && now_ns - *progress.back_since_ns < last_retry_ns_;
  progress.retry_wait_ns = progress.left_alone || came_and_went
                               ? std::min(2 * progress.retry_wait_ns, last_retry_ns_)
                               : first_retry_ns_;
  progress.next_ns = now_ns + progress.retry_wait_ns;
  progress.rejected_in_a_row = 0;
  states_[source].problem = std::move(problem);
  if (!std::exchange(progress.left_alone, true)) {
    progress.failed_since_ns = now_ns;
    notices_.push_back({now_ns, kind, text});
  }
}

void SensorSchedule::hang(std::uint32_t source, std::int64_t began_ns, std::int64_t now_ns) {
  Progress& progress = progress_[source];
  SensorSourceState& state = states_[source];
  ++state.late;
  state.worst_ns = std::max(state.worst_ns, static_cast<std::uint64_t>(now_ns - began_ns));
  progress.hangs = true;
  progress.may_be_open = true;
  fail(source, now_ns, "sensor_stuck",
       fmt::format("{} does not answer within {:.1f} s; it is left alone until it does",
                   progress.source.name, seconds(deadline_ns_)),
       "does not answer");
  tell_rate(source);
}

void SensorSchedule::return_late(std::uint32_t source, std::int64_t now_ns) {
  Progress& progress = progress_[source];
  progress.hangs = false;
  progress.next_ns = now_ns + progress.retry_wait_ns;
}

bool SensorSchedule::may_be_open(std::uint32_t source) const {
  return progress_[source].may_be_open;
}

bool SensorSchedule::hangs(std::uint32_t source) const {
  return progress_[source].hangs;
}

std::vector<SensorNotice> SensorSchedule::take_notices() {
  return std::exchange(notices_, {});
}

}  // namespace gputrace::sampler
