// What `gputrace report` shows of the results in a file of a roofline or a bench.
#pragma once

#include <span>
#include <string>

#include "cli/analysis/bench_result.h"
#include "cli/report/render_text.h"
#include "cli/report/roofline_plot.h"
#include "daemon/store/results.h"

namespace gputrace::commands {

[[nodiscard]] report::RooflinePlot roofline_plot_of(const analysis::BenchRun& run);
/// The plot of a roofline, where ceilings of both kinds were measured, then the tables.
[[nodiscard]] std::string results_text(std::span<const store::ResultRun> runs,
                                       const report::TextOptions& options);
/// gputrace.bench/1; of several runs one document a line.
[[nodiscard]] std::string results_json(std::span<const store::ResultRun> runs);

}  // namespace gputrace::commands
