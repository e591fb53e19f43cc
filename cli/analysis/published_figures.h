// Figures of GPUs that others published, to be shown beside measurements: without intervals, for
// nobody gave any.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "cli/analysis/bench_result.h"
#include "daemon/base/result.h"

namespace gputrace::analysis {

struct PublishedFigure {
  std::string gpu;  ///< "Radeon 780M"
  std::string
      what;  ///< a ceiling of the roofline ("peak.fp32"), "cores", TEST/SERIES or TEST/VALUE
  double value = 0;
  std::string unit;
  std::string source;  ///< who published it, and what is to be known of it
};

/// kCorrupt names the line: columns gpu, what, value, unit, source; fields with commas in double
/// quotes.
[[nodiscard]] Result<std::vector<PublishedFigure>> parse_published(std::string_view csv);
/// Those that come with gputrace.
[[nodiscard]] const std::vector<PublishedFigure>& published_figures();
/// Names of the GPUs, in their order.
[[nodiscard]] std::vector<std::string> published_gpus();
/// Of one GPU: case, blanks and hyphens do not count, and a part that only one name has is enough.
/// kNotFound names those that there are.
[[nodiscard]] Result<std::vector<PublishedFigure>> published_of(std::string_view gpu);

struct BesidePublished {
  PublishedFigure published;
  std::optional<double> measured;
  std::optional<double> lower;
  std::optional<double> upper;
  std::optional<double> ratio;  ///< published over measured
  std::string why;              ///< there is no ratio
};
/// Each figure beside what the run has of it: of a series with several points the best.
[[nodiscard]] std::vector<BesidePublished> beside_published(
    const BenchRun& run, const std::vector<PublishedFigure>& published);

}  // namespace gputrace::analysis
