// How well ratios of benches are known: from the runs behind a point where each side is one bench,
// from the differences between benches where a side has several.
#pragma once

#include <limits>
#include <optional>
#include <span>
#include <vector>

#include "cli/analysis/bench_result.h"
#include "cli/analysis/statistics.h"

namespace gputrace::analysis {

/// Standard errors of a logarithm, each direction for itself.
struct LogError {
  double below = 0;
  double above = 0;
};

/// What one bench says of one thing.
struct LogFigure {
  double log = 0;
  std::optional<LogError> error = std::nullopt;  ///< from its own runs
  double degrees = std::numeric_limits<double>::infinity();
  std::optional<double> log_clock = std::nullopt;
};

/// The median is known to 1.2533 s / sqrt(n), where s is the scatter of the runs, of which p5 and
/// p95 are 1.645 s away. Runs that drift are no independent looks, and sqrt(n) is left out. Absent
/// where there is nothing to compare.
[[nodiscard]] std::optional<LogFigure> figure_of(const BenchPoint& point);
[[nodiscard]] std::optional<LogFigure> figure_of(const DerivedValue& value);
/// Of several points of one bench, at least one: their geometric mean.
[[nodiscard]] LogFigure mean_of(std::span<const LogFigure> points);

/// One thing on both sides, each with at least one bench.
struct ComparedFigures {
  std::vector<LogFigure> a;
  std::vector<LogFigure> b;
  std::optional<LogError> least = std::nullopt;  ///< of the ratio, where each side is one bench
};

/// Means of the benches' logarithms.
[[nodiscard]] double mean_log(std::span<const LogFigure> figures);

/// B over A.
struct RatioEstimate {
  double log = 0;
  std::optional<Interval> interval = std::nullopt;  ///< of the ratio, 95 %
  double p = 1;                                     ///< of a difference as large by chance
};

/// One bench a side: their own errors (Zou and Donner 2008), with three degrees of freedom at most,
/// since what differs from one bench to the next is in none of them; ratios of equal benches have
/// tails like that. Several: the scatter between them (Welch 1947 with a common variance), drawn
/// towards that of all things in the family (Smyth 2004), as far as these are alike; never less
/// than the benches' own errors. Nothing is known better than to 0.1 %.
[[nodiscard]] std::vector<RatioEstimate> estimate_ratios(std::span<const ComparedFigures> family);

}  // namespace gputrace::analysis
