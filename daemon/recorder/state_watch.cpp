#include "daemon/recorder/state_watch.h"

#include <fmt/format.h>

#include "daemon/base/time.h"

namespace gputrace::recorder {

namespace {

using sampler::SampleState;

double seconds_between(std::int64_t from_ns, std::int64_t to_ns) {
  return static_cast<double>(to_ns - from_ns) / static_cast<double>(kNsPerSecond);
}

}  // namespace

std::vector<store::Event> StateWatch::look(const sampler::SampleBlock& block) {
  std::vector<store::Event> events;
  for (std::size_t tick = 0; tick < block.size; ++tick) {
    bool reset = false;
    bool asleep = false;
    bool valid = false;
    for (std::size_t reg = 0; reg < block.register_count; ++reg) {
      const SampleState state = block.states_of(reg)[tick];
      reset = reset || state == SampleState::kReset;
      asleep = asleep || state == SampleState::kAsleep;
      valid = valid || state == SampleState::kValid;
    }
    // Other unknown states say neither that something began nor that it ended.
    if (reset || asleep || valid) {
      look_at(block.time_ns[tick], reset, asleep && !valid && !reset, events);
    }
  }
  return events;
}

void StateWatch::look_at(std::int64_t time_ns, bool reset, bool asleep,
                         std::vector<store::Event>& events) {
  if (reset) {
    if (!reset_since_ns_ && seen_awake_) {
      events.push_back({time_ns, "gpu_reset", "the kernel resets the GPU"});
    }
    if (!reset_since_ns_) {
      reset_since_ns_ = time_ns;
    }
    return;
  }
  if (reset_since_ns_) {
    events.push_back({time_ns, "gpu_reset_over",
                      fmt::format("the reset of the GPU took {:.1f} s",
                                  seconds_between(*reset_since_ns_, time_ns))});
    reset_since_ns_.reset();
  }
  if (!asleep) {
    seen_awake_ = true;
    if (told_asleep_since_ns_) {
      events.push_back({time_ns, "runtime_resume",
                        fmt::format("the GPU was asleep for {:.1f} s",
                                    seconds_between(*told_asleep_since_ns_, time_ns))});
      told_asleep_since_ns_.reset();
    }
    return;
  }
  const bool told_lately = last_suspend_told_ns_ && time_ns - *last_suspend_told_ns_ < kNsPerSecond;
  if (!told_asleep_since_ns_ && !told_lately) {
    events.push_back({time_ns, "runtime_suspend", "the GPU is asleep"});
    told_asleep_since_ns_ = time_ns;
    last_suspend_told_ns_ = time_ns;
  }
}

}  // namespace gputrace::recorder
