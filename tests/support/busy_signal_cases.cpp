#include "tests/support/busy_signal_cases.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <utility>

namespace gputrace::test {
namespace {

BusySignal empty_signal(std::uint64_t seed) {
  BusySignal signal;
  signal.seed = seed;
  signal.units = signal_units();
  return signal;
}

SignalPhase steady(double seconds, std::vector<double> duty) {
  return {.seconds = seconds, .passes = {{.share = 1, .duty = std::move(duty)}}};
}

SignalPhase with_gate(double seconds, const std::vector<double>& duty, SignalRandom& random) {
  return {.seconds = seconds,
          .passes = gated(duty, random.uniform(0.6, 0.95)),
          .fps = random.uniform(17, 144),
          .jitter = random.uniform(0, 0.1)};
}

std::size_t other_load(std::size_t than, SignalRandom& random) {
  return (than + 1 + random.bits() % (kLoads - 1)) % kLoads;
}

/// Four passes, each with another load.
SignalPhase frames_of_passes(double seconds, double fps, double jitter, SignalRandom& random) {
  SignalPhase phase{.seconds = seconds, .passes = {}, .fps = fps, .jitter = jitter};
  constexpr std::array<double, 4> kShares{0.2, 0.35, 0.3, 0.15};
  for (std::size_t i = 0; i < kShares.size(); ++i) {
    phase.passes.push_back({.share = kShares[i], .duty = load((4 + 5 * i) % kLoads, random)});
  }
  return phase;
}

}  // namespace

std::vector<double> load(std::size_t kind, SignalRandom& random) {
  // Memory side, texture, raster, geometry, front end, the rest.
  constexpr std::array<std::array<double, 6>, kLoads> kBusy{{{.93, .84, .90, .40, .97, .08},
                                                             {.41, .60, .05, .02, .98, .05},
                                                             {.55, .93, .85, .35, .96, .05},
                                                             {.60, .40, .92, .45, .95, .06},
                                                             {.45, .30, .50, .88, .95, .10},
                                                             {.35, .30, .35, .20, .55, .15}}};
  const std::array<double, 6>& busy = kBusy[kind];
  const std::array<double, 26> duty{
      busy[0], busy[0], busy[0], busy[1],     busy[1], busy[0] / 3,  // see signal_units()
      busy[4], busy[4], busy[4], busy[2],     busy[2], busy[3],     busy[2],
      busy[2], busy[3], .002,    busy[4],     .01,     .002,        busy[5],
      busy[2], busy[5], busy[5], busy[5] / 2, busy[4], busy[3]};
  std::vector<double> moved;
  moved.reserve(duty.size());
  for (const double value : duty) {
    moved.push_back(std::clamp(value + random.uniform(-0.04, 0.04), 0.001, 0.995));
  }
  return moved;
}

std::vector<double> relaxations(double low_ms, double high_ms, SignalRandom& random) {
  std::vector<double> all;
  for (std::size_t u = 0; u < signal_units().size(); ++u) {
    all.push_back(low_ms * std::pow(high_ms / low_ms, random.uniform()));
  }
  return all;
}

BusySignal simple_recording(std::uint64_t seed) {
  SignalRandom random(seed * 7919);
  BusySignal signal = empty_signal(seed);
  signal.relaxation_ms = relaxations(0.5, 2, random);
  std::size_t kind = random.bits() % kLoads;
  for (int phase = 0; phase < 3; ++phase) {
    const std::vector<double> duty = load(kind, random);
    const double seconds = random.uniform(10, 20);
    signal.phases.push_back(seed % 3 == 0 ? with_gate(seconds, duty, random)
                                          : steady(seconds, duty));
    kind = other_load(kind, random);
  }
  return signal;
}

BusySignal hard_recording(std::uint64_t seed, double low_ms, double high_ms, double common) {
  SignalRandom random(seed * 104729);
  BusySignal signal = empty_signal(seed);
  signal.relaxation_ms = relaxations(low_ms, high_ms, random);
  signal.common = common;
  signal.unknown = 0.025;
  signal.missing = 0.01;
  std::size_t kind = random.bits() % kLoads;
  for (int phase = 0; phase < 12; ++phase) {
    const std::vector<double> duty = load(kind, random);
    const double seconds = phase == 6 ? 0.5 : random.uniform(3, 15);
    signal.phases.push_back(phase != 6 && random.uniform() < 0.5 ? with_gate(seconds, duty, random)
                                                                 : steady(seconds, duty));
    kind = other_load(kind, random);
  }
  return signal;
}

BusySignal short_phase(std::uint64_t seed, double low_ms, double high_ms, double seconds,
                       double points) {
  SignalRandom random(seed * 15485863);
  BusySignal signal = empty_signal(seed);
  signal.relaxation_ms = relaxations(low_ms, high_ms, random);
  std::vector<double> duty = load(0, random);
  signal.phases.push_back(steady(20 + random.uniform(), duty));
  std::vector<double> lower = duty;
  for (std::size_t u = 0; u < kMemoryUnits; ++u) {
    lower[u] = std::max(0.02, lower[u] - points);
  }
  signal.phases.push_back(steady(seconds, lower));
  signal.phases.push_back(steady(20 + random.uniform(), duty));
  return signal;
}

std::vector<StationaryKind> stationary_kinds(std::uint64_t seed, double seconds) {
  std::vector<StationaryKind> kinds;
  SignalRandom random(seed * 32452843);
  const auto add = [&](const std::string& name, double low_ms, double high_ms, double common,
                       SignalPhase phase) {
    BusySignal signal = empty_signal(seed * 100 + kinds.size());
    signal.relaxation_ms = relaxations(low_ms, high_ms, random);
    signal.common = common;
    signal.phases = {std::move(phase)};
    signal.keep_ticks = false;
    kinds.push_back({name, std::move(signal)});
  };
  const auto gate = [&](double fps, double jitter, double open) {
    return SignalPhase{
        .seconds = seconds, .passes = gated(load(3, random), open), .fps = fps, .jitter = jitter};
  };
  add("memory, 0.5-2 ms", 0.5, 2, 0, steady(seconds, load(0, random)));
  add("compute, 4-8 ms", 4, 8, 0, steady(seconds, load(1, random)));
  add("geometry, 8-16 ms, common 0.7", 8, 16, 0.7, steady(seconds, load(4, random)));
  add("CPU-bound, 4-8 ms, common 0.7", 4, 8, 0.7, steady(seconds, load(5, random)));
  add("idle, 4-8 ms", 4, 8, 0, steady(seconds, std::vector<double>(26, 0.004)));
  add("nearly idle, 8-16 ms, common 0.7", 8, 16, 0.7,
      steady(seconds, std::vector<double>(26, 0.001)));
  add("always busy, 4 ms", 3, 5, 0, steady(seconds, std::vector<double>(26, 0.997)));
  add("half busy, 1-16 ms", 1, 16, 0.3, steady(seconds, std::vector<double>(26, 0.5)));
  add("gate 17 fps", 1, 2, 0, gate(17, 0, 0.8));
  add("gate 17.3 fps, jitter 10 %", 1, 2, 0, gate(17.3, 0.1, 0.7));
  add("gate 30 fps, jitter 3 %", 2, 8, 0.7, gate(30, 0.03, 0.9));
  add("gate 59.94 fps", 0.5, 2, 0, gate(59.94, 0, 0.6));
  add("gate 60 fps, jitter 10 %", 4, 8, 0.7, gate(60, 0.1, 0.85));
  add("gate 144 fps, jitter 5 %", 0.5, 2, 0, gate(144, 0.05, 0.75));
  add("passes 10.5 fps", 0.5, 2, 0, frames_of_passes(seconds, 10.5, 0, random));
  add("passes 10.1 fps, jitter 5 %", 0.5, 2, 0, frames_of_passes(seconds, 10.1, 0.05, random));
  add("passes 20.02 fps", 0.5, 2, 0, frames_of_passes(seconds, 20.02, 0, random));
  add("passes 45 fps, jitter 10 %", 1, 4, 0.5, frames_of_passes(seconds, 45, 0.1, random));
  add("passes 144 fps", 0.5, 2, 0, frames_of_passes(seconds, 144, 0, random));
  return kinds;
}

}  // namespace gputrace::test
