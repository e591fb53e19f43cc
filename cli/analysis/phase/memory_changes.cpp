#include "cli/analysis/phase/memory_changes.h"

#include <algorithm>
#include <cmath>
#include <cstddef>

#include "cli/analysis/bottleneck/dram_use.h"

namespace gputrace::analysis {
namespace {

/// Sensors are read ten times a second, and firmware averages over up to two seconds.
constexpr double kWindowS = 1;
constexpr std::size_t kSteadyWindows = 3;
/// A change is placed to a fifth of a window.
constexpr int kSteps = 10;

enum class Level { kUnclear, kFree, kFull };

Level level(const WitnessOf& witness, double from_s, double to_s) {
  const auto use = dram_use(witness(from_s, to_s), 1);
  if (!use) {
    return Level::kUnclear;
  }
  const DramLimits limits = dram_limits(*use);
  if (use->share >= limits.full) {
    return Level::kFull;
  }
  return use->share < limits.free ? Level::kFree : Level::kUnclear;
}

/// Where in [from_s, to_s] the level `after` begins.
double place(const WitnessOf& witness, double from_s, double to_s, Level after) {
  const double step_s = (to_s - from_s) / kSteps;
  for (int i = 0; i < kSteps; ++i) {
    const double at_s = from_s + i * step_s;
    if (level(witness, at_s, at_s + step_s) == after) {
      return at_s;
    }
  }
  return (from_s + to_s) / 2;
}

}  // namespace

std::vector<double> find_memory_changes(const WitnessOf& witness, double start_s, double end_s) {
  std::vector<double> changes;
  const double windows = std::floor((end_s - start_s) / kWindowS);
  if (!witness || windows < 2 * kSteadyWindows) {
    return changes;
  }
  Level steady = Level::kUnclear;
  Level candidate = Level::kUnclear;
  std::size_t run = 0;  // windows of the candidate in a row
  double run_start_s = start_s;
  for (std::size_t i = 0; i < static_cast<std::size_t>(windows); ++i) {
    const double at_s = start_s + static_cast<double>(i) * kWindowS;
    const Level now = level(witness, at_s, at_s + kWindowS);
    if (now == Level::kUnclear) {
      run = 0;
      continue;
    }
    if (run == 0 || now != candidate) {
      candidate = now;
      run = 0;
      run_start_s = at_s;
    }
    if (++run == kSteadyWindows && candidate != steady) {
      if (steady != Level::kUnclear) {
        changes.push_back(place(witness, std::max(start_s, run_start_s - kWindowS),
                                run_start_s + kWindowS, candidate));
      }
      steady = candidate;
    }
  }
  return changes;
}

}  // namespace gputrace::analysis
