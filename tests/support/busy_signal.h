// Seeded recordings whose changes are known: two-state Markov chains sampled at random instants,
// with common drive, frames of passes (a gate is a frame of two passes), unknown and missing
// samples, sleep, suspend and slow wandering. Compile busy_signal.cpp, link gputrace_analysis.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "cli/analysis/busy_grid.h"

namespace gputrace::test {

/// Part of a frame. `share` of its time; `duty` of each unit, in the order of BusySignal::units. A
/// unit with duty 0 is idle at once.
struct SignalPass {
  double share = 1;
  std::vector<double> duty;
};

enum class SignalPower { kAwake, kAsleep, kSuspended };  // suspended: there are no ticks at all

struct SignalPhase {
  double seconds = 10;
  std::vector<SignalPass> passes;
  double fps = 0;     ///< 0: no frames, the first pass all the time
  double jitter = 0;  ///< standard deviation of a frame's time, and of a pass's share, in shares
  SignalPower power = SignalPower::kAwake;
};

struct BusySignal {
  std::uint64_t seed = 1;
  std::vector<analysis::UnitKey> units;
  std::vector<double> relaxation_ms;  ///< of each unit: correlation is exp(-t / relaxation)
  std::vector<SignalPhase> phases;
  double rate_hz = 1000;
  double cell_s = 0.1;
  double start_s = 0;
  double common = 0;           ///< share of the draws that all units have in common
  double unknown = 0;          ///< share of ticks without a valid sample
  double unknown_run = 1;      ///< mean number of unknown ticks in a row
  double missing = 0;          ///< share of ticks that are not there
  double wander = 0;           ///< standard deviation of the duty's slow wandering
  double wander_s = 3;         ///< its correlation time
  double drift_per_s = 0;      ///< added to all duties, from the start of each phase
  double second_register = 1;  ///< share of ticks at which units of other registers than the first
                               ///< unit's are valid
  bool keep_ticks = true;
};

/// The recording in memory.
class GeneratedSource : public analysis::GridSource {
 public:
  [[nodiscard]] const std::vector<analysis::UnitKey>& units() const override { return units_; }
  [[nodiscard]] double start_s() const override { return start_s_; }
  [[nodiscard]] double cell_s() const override { return cell_s_; }
  [[nodiscard]] std::size_t cells() const override { return asleep_.size(); }
  [[nodiscard]] Result<analysis::BusyGrid> read(std::size_t first,
                                                std::size_t count) const override;
  [[nodiscard]] Result<std::vector<analysis::Tick>> ticks(double from_s,
                                                          double to_s) const override;
  /// The ends of all phases but the last, in seconds from the session's start.
  [[nodiscard]] const std::vector<double>& true_changes() const { return true_changes_; }

 private:
  friend GeneratedSource generate(const BusySignal& signal);
  std::vector<analysis::UnitKey> units_;
  double start_s_ = 0;
  double cell_s_ = 0.1;
  std::vector<std::vector<analysis::Cell>> cells_;  // of each unit
  std::vector<std::uint32_t> asleep_;
  std::vector<std::uint32_t> unknown_;
  std::vector<analysis::Tick> ticks_;
  std::vector<double> true_changes_;
};

/// The same signal gives the same recording.
[[nodiscard]] GeneratedSource generate(const BusySignal& signal);

/// 26 busy bits of GRBM_STATUS, GRBM_STATUS2 and GRBM_STATUS3 of GFX11, of which the first
/// kMemoryUnits are the memory side.
[[nodiscard]] std::vector<analysis::UnitKey> signal_units();
inline constexpr std::size_t kMemoryUnits = 6;

/// Frames in which the units work for `open` of the time.
[[nodiscard]] std::vector<SignalPass> gated(const std::vector<double>& duty, double open);

/// Uniform numbers from a seed, the same on all machines (splitmix64, Steele, Lea, Flood 2014).
class SignalRandom {
 public:
  explicit SignalRandom(std::uint64_t seed) : state_(seed) {}
  std::uint64_t bits() {
    std::uint64_t z = (state_ += 0x9E3779B97F4A7C15U);
    z = (z ^ (z >> 30U)) * 0xBF58476D1CE4E5B9U;
    z = (z ^ (z >> 27U)) * 0x94D049BB133111EBU;
    return z ^ (z >> 31U);
  }
  double uniform() { return static_cast<double>(bits() >> 11U) * 0x1p-53; }
  double uniform(double low, double high) { return low + (high - low) * uniform(); }
  double normal();

 private:
  std::uint64_t state_;
};

}  // namespace gputrace::test
