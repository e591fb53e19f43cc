// What `gputrace report` shows of the results in a file of a roofline or a bench.
#pragma once

#include <span>
#include <string>

#include "cli/analysis/bench_result.h"
#include "cli/analysis/stimulus_matrix.h"
#include "cli/report/render_text.h"
#include "cli/report/roofline_plot.h"
#include "daemon/store/results.h"

namespace gputrace::commands {

[[nodiscard]] report::RooflinePlot roofline_plot_of(const analysis::BenchRun& run);
/// The tables, and the plot of a roofline where ceilings of both kinds were measured: before the
/// tables of a roofline, behind those of benches.
[[nodiscard]] std::string run_text(const analysis::BenchRun& run,
                                   const report::TextOptions& options);
/// `matrix`: what the samples of a single run say; without points where nothing was sampled.
[[nodiscard]] std::string results_text(std::span<const store::ResultRun> runs,
                                       const analysis::StimulusMatrix& matrix,
                                       const report::TextOptions& options);
/// gputrace.bench/1; of several runs one document a line.
[[nodiscard]] std::string results_json(std::span<const store::ResultRun> runs,
                                       const analysis::StimulusMatrix& matrix);
/// Behind a run's text; empty without points.
[[nodiscard]] std::string stimulus_section(const analysis::StimulusMatrix& matrix,
                                           const report::TextOptions& options);

}  // namespace gputrace::commands
