#include "daemon/simulated_gpu/playback.h"

#include <algorithm>
#include <utility>

#include "daemon/simulated_gpu/fingerprint.h"
#include "daemon/simulated_gpu/random.h"
#include "daemon/simulated_gpu/stimulus.h"

namespace gputrace::simulated_gpu {

namespace {

constexpr std::size_t kKeptPlays = 32;
constexpr std::size_t kKeptKernels = 16;

double seconds_of(std::int64_t ns) {
  return static_cast<double>(ns) * 1e-9;
}

}  // namespace

std::int64_t Playback::known_time(const Plays& plays, std::int64_t time_ns) {
  // A reader that was held up for that many plays must not see counters fall back.
  return time_ns > 0 && plays.size() == kKeptPlays ? std::max(time_ns, plays.front()->begin_ns)
                                                   : time_ns;
}

Playback::Playback(std::shared_ptr<const Simulation> simulation)
    : simulation_(std::move(simulation)),
      course_(*simulation_),
      plays_(std::make_unique<const Plays>()) {}

Result<std::shared_ptr<const PlayedKernel>> Playback::prepare(std::string_view stimulus) {
  const Scenario& scenario = simulation_->scenario();
  auto played = parse_stimulus(stimulus, scenario.gpu);
  if (!played) {
    return tl::unexpected(played.error());
  }
  const SignalOptions options{
      .power_limit_w = scenario.power_limit_w, .seed = scenario.seed, .variants = 1};
  const std::uint64_t key = fingerprint(scenario.gpu, played->workload, options);
  const auto known = std::find_if(prepared_.begin(), prepared_.end(),
                                  [key](const auto& kernel) { return kernel->key == key; });
  if (known != prepared_.end()) {
    std::rotate(known, known + 1, prepared_.end());
    return prepared_.back();
  }
  auto signal = SteadySignal::build(scenario.gpu, played->workload, options);
  if (!signal) {
    return tl::unexpected(signal.error());
  }
  const Load load = load_of(scenario.gpu, signal->operating_point(), true);
  if (prepared_.size() == kKeptKernels) {
    prepared_.erase(prepared_.begin());
  }
  prepared_.push_back(
      std::make_shared<const PlayedKernel>(PlayedKernel{key, std::move(*signal), load}));
  return prepared_.back();
}

void Playback::begin(std::shared_ptr<const PlayedKernel> kernel, std::int64_t time_ns) {
  auto next = std::make_unique<Plays>(plays_.read([](const Plays& plays) { return plays; }));
  auto play = std::make_shared<Play>();
  play->begin_ns = next->empty() ? time_ns : std::max(time_ns, next->back()->begin_ns);
  play->kernel = std::move(kernel);
  play->order = mix64(simulation_->scenario().seed * 137 + begun_);
  play->power = power_of(*next, play->begin_ns);
  play->before = totals_until(*next, play->begin_ns);
  for (std::size_t unit = 0; unit < kUnitCount; ++unit) {
    play->busy_before_ns.at(unit) = busy_until(*next, static_cast<Unit>(unit), play->begin_ns);
  }
  ++begun_;
  if (next->size() == kKeptPlays) {
    next->erase(next->begin());
  }
  next->push_back(std::move(play));
  plays_.replace(std::move(next));
}

const Playback::Play* Playback::play_at(const Plays& plays, std::int64_t time_ns) {
  const auto last = std::find_if(plays.rbegin(), plays.rend(),
                                 [time_ns](const auto& play) { return play->begin_ns <= time_ns; });
  return last == plays.rend() ? nullptr : last->get();
}

UnitMask Playback::state_at(std::int64_t time_ns) const {
  return plays_.read([&](const Plays& plays) {
    const Play* play = play_at(plays, time_ns);
    return play == nullptr || play->kernel == nullptr
               ? simulation_->state_at(time_ns)
               : play->kernel->signal.state_at(static_cast<std::uint64_t>(time_ns - play->begin_ns),
                                               play->order);
  });
}

std::int64_t Playback::busy_until(const Plays& plays, Unit unit, std::int64_t time_ns) const {
  time_ns = known_time(plays, time_ns);
  const Play* play = play_at(plays, time_ns);
  if (play == nullptr) {
    return simulation_->busy_ns(unit, 0, time_ns);
  }
  const std::int64_t since_begin =
      play->kernel == nullptr
          ? simulation_->busy_ns(unit, play->begin_ns, time_ns)
          : static_cast<std::int64_t>(play->kernel->signal.busy_ns(
                static_cast<std::uint64_t>(time_ns - play->begin_ns), unit, play->order));
  return play->busy_before_ns.at(index_of(unit)) + since_begin;
}

std::int64_t Playback::busy_ns(Unit unit, std::int64_t begin_ns, std::int64_t end_ns) const {
  return plays_.read([&](const Plays& plays) {
    return busy_until(plays, unit, end_ns) - busy_until(plays, unit, begin_ns);
  });
}

Load Playback::load_at(std::int64_t time_ns) const {
  return plays_.read([&](const Plays& plays) {
    const Play* play = play_at(plays, time_ns);
    return play == nullptr || play->kernel == nullptr ? course_.load_at(time_ns)
                                                      : play->kernel->load;
  });
}

// Power and temperature are linear in the load: what a play left behind fades beside what the
// scenario does.
PowerState Playback::power_of(const Plays& plays, std::int64_t time_ns) const {
  time_ns = known_time(plays, time_ns);
  const PowerCourse& course = course_.power();
  const Play* play = play_at(plays, time_ns);
  if (play == nullptr) {
    return course.at(time_ns);
  }
  const double seconds = seconds_of(time_ns - play->begin_ns);
  if (play->kernel != nullptr) {
    return course.drive(play->power, play->kernel->load.steady_w, seconds);
  }
  const PowerState then = course.at(play->begin_ns);
  const PowerState left = course.fade(
      {play->power.power_w - then.power_w, play->power.temperature_c - then.temperature_c},
      seconds);
  const PowerState now = course.at(time_ns);
  return {now.power_w + left.power_w, now.temperature_c + left.temperature_c};
}

PowerState Playback::power_at(std::int64_t time_ns) const {
  return plays_.read([&](const Plays& plays) { return power_of(plays, time_ns); });
}

LoadTotals Playback::totals_until(const Plays& plays, std::int64_t time_ns) const {
  time_ns = known_time(plays, time_ns);
  const Play* play = play_at(plays, time_ns);
  if (play == nullptr) {
    return course_.totals_at(time_ns);
  }
  LoadTotals totals = play->before;
  const double seconds = seconds_of(time_ns - play->begin_ns);
  const double lag_s = course_.power().thermal().power_lag_s;
  const PowerState now = power_of(plays, time_ns);
  if (play->kernel != nullptr) {
    totals.add(play->kernel->load, seconds);
    // The integral of lag dP/dt = steady - P.
    totals.energy_j +=
        play->kernel->load.steady_w * seconds - lag_s * (now.power_w - play->power.power_w);
    return totals;
  }
  const LoadTotals then = course_.totals_at(play->begin_ns);
  const LoadTotals scenario = course_.totals_at(time_ns);
  totals.clock_cycles += scenario.clock_cycles - then.clock_cycles;
  totals.dram_read_bytes += scenario.dram_read_bytes - then.dram_read_bytes;
  totals.dram_written_bytes += scenario.dram_written_bytes - then.dram_written_bytes;
  const double deviation_then_w = play->power.power_w - course_.power().at(play->begin_ns).power_w;
  const double deviation_now_w = now.power_w - course_.power().at(time_ns).power_w;
  totals.energy_j +=
      scenario.energy_j - then.energy_j + lag_s * (deviation_then_w - deviation_now_w);
  return totals;
}

LoadTotals Playback::totals_at(std::int64_t time_ns) const {
  return plays_.read([&](const Plays& plays) { return totals_until(plays, time_ns); });
}

}  // namespace gputrace::simulated_gpu
