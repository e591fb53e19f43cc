// Recordings on which changes and phases are searched, each from a seed.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "tests/support/busy_signal.h"

namespace gputrace::test {

/// Busy shares of signal_units() under a load of one kind, each unit moved at random by up to
/// 0.04: 0 memory, 1 compute, 2 texture, 3 raster, 4 geometry, 5 held back by the CPU.
inline constexpr std::size_t kLoads = 6;
[[nodiscard]] std::vector<double> load(std::size_t kind, SignalRandom& random);

/// Relaxation times between `low` and `high`, evenly in the logarithm.
[[nodiscard]] std::vector<double> relaxations(double low_ms, double high_ms, SignalRandom& random);

/// Two changes in 30 to 60 s, relaxation 0.5 to 2 ms, units independent; every third one with a
/// frame gate.
[[nodiscard]] BusySignal simple_recording(std::uint64_t seed);

/// Eleven changes, one phase of 0.5 s, gates in half of the phases, 2.5 % unknown, 1 % missing.
[[nodiscard]] BusySignal hard_recording(std::uint64_t seed, double low_ms, double high_ms,
                                        double common);

/// `seconds` in which the memory side is `points` lower, between 20 s and 20 s.
[[nodiscard]] BusySignal short_phase(std::uint64_t seed, double low_ms, double high_ms,
                                     double seconds, double points);

struct StationaryKind {
  std::string name;
  BusySignal signal;
};
[[nodiscard]] std::vector<StationaryKind> stationary_kinds(std::uint64_t seed, double seconds);

}  // namespace gputrace::test
