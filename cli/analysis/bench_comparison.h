// Two runs of the bench, or two sets of repeats, compared: what changed around them, and ratios
// with intervals of series, inferred values and single points.
#pragma once

#include <cstddef>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "cli/analysis/bench_result.h"
#include "cli/analysis/comparison.h"
#include "cli/analysis/statistics.h"

namespace gputrace::analysis {

/// Something that is not the same on both sides, and is not a figure.
struct BenchChange {
  std::string what;  ///< "driver version", "code of alu.fp32/fma"
  std::string a;
  std::string b;
};

/// All ratios are B over A.
struct BenchRatio {
  std::string test;                        ///< "latency.vector"
  std::string name;                        ///< a series, or a derived value
  std::optional<double> x = std::nullopt;  ///< of a single point
  std::string unit;
  std::string axis_unit;
  bool less_is_better = false;
  bool is_rate = false;    ///< per second: what clock and cores give more of
  std::size_t points = 0;  ///< behind it
  /// Geometric means over the points that both runs have.
  std::optional<double> a = std::nullopt;
  std::optional<double> b = std::nullopt;
  std::optional<double> ratio = std::nullopt;
  std::optional<Interval> interval = std::nullopt;  ///< 95 %
  std::optional<double> per_clock = std::nullopt;   ///< where clocks of all points are known
  std::optional<double> per_core = std::nullopt;    ///< where the cores of both are known
  Reality reality = Reality::kCannotTell;
  std::string why;  ///< of kCannotTell
};

struct BenchComparison {
  std::vector<BenchChange> changes;    ///< device, driver, Mesa, code: to be said first
  std::vector<std::string> cautions;   ///< quick against full, simulated against real
  std::vector<BenchRatio> series;      ///< one of each series
  std::vector<BenchRatio> derived;     ///< levels, peaks
  std::vector<BenchRatio> points;      ///< of series with several
  std::vector<std::string> only_in_a;  ///< tests without a counterpart that has figures
  std::vector<std::string> only_in_b;
};

/// Repeats of the same setting on each side, often one; what changed around them is between the
/// first of each. Points are compared that all benches of both sides have. A series is the
/// geometric mean of its points' ratios. Between single benches its interval is of the scatter of
/// the points, never less than what they say of themselves; of two or three points it holds all of
/// theirs. For the rest see estimate_ratios(). Real: 1 is outside at a family-wise error of 5 %
/// (Holm 1979).
[[nodiscard]] BenchComparison compare_benches(std::span<const BenchRun> a,
                                              std::span<const BenchRun> b);

/// Processors of the GPU (CUs, cores, SMs), where a test has counted them: its value "cores".
[[nodiscard]] std::optional<double> cores_of(const BenchRun& run);

}  // namespace gputrace::analysis
