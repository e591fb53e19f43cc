// Two runs of the bench, or one and published figures, compared: as text and as JSON.
#pragma once

#include <string>
#include <vector>

#include "cli/analysis/bench_comparison.h"
#include "cli/analysis/published_figures.h"
#include "cli/report/render_text.h"

namespace gputrace::report {

/// A run, or several repeats, without results; device and time of the first.
struct BenchSide {
  std::vector<std::string> sources;  ///< the files that they are from, at least one
  analysis::BenchDevice device;
  std::string started_at;
  bool quick = false;
};

struct ComparedBenches {
  BenchSide a;
  BenchSide b;
  analysis::BenchComparison comparison;
  std::vector<std::string> failures;  ///< of --fail-on, explained
};

struct ComparedToPublished {
  BenchSide a;
  std::string gpu;
  std::vector<analysis::BesidePublished> rows;
};

/// What changed around the runs comes first, then series and inferred values, then single points
/// that changed really, the most changed of them.
[[nodiscard]] std::string render_bench_comparison_text(const ComparedBenches& compared,
                                                       const TextOptions& options);
[[nodiscard]] std::string render_published_text(const ComparedToPublished& compared,
                                                const TextOptions& options);
/// Schema gputrace.bench-compare/1, all points; ends in a newline.
[[nodiscard]] std::string render_bench_comparison_json(const ComparedBenches& compared);
[[nodiscard]] std::string render_published_json(const ComparedToPublished& compared);

/// "faster", "slower", "larger", "smaller", "noise", "?".
[[nodiscard]] std::string_view change_word(const analysis::BenchRatio& row);

}  // namespace gputrace::report
