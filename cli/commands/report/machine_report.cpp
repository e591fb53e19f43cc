#include "cli/commands/report/machine_report.h"

#include <fmt/format.h>

#include <algorithm>

#include "cli/commands/bench/result_file.h"
#include "cli/report/bench_json.h"
#include "cli/report/bench_text.h"
#include "cli/report/stimulus_text.h"

namespace gputrace::commands {

report::RooflinePlot roofline_plot_of(const analysis::BenchRun& run) {
  report::RooflinePlot plot;
  plot.title =
      run.device.driver.empty()
          ? run.device.name
          : fmt::format("{} ({}{}{})", run.device.name, run.device.driver,
                        run.device.driver_info.empty() ? "" : ", ", run.device.driver_info);
  plot.simulated = run.device.simulated;
  plot.roofline = analysis::make_roofline(run);
  return plot;
}

std::string run_text(const analysis::BenchRun& run, const report::TextOptions& options) {
  const report::RooflinePlot plot = roofline_plot_of(run);
  std::string roofline;
  if (!plot.roofline.compute.empty() && !plot.roofline.bandwidth.empty()) {
    roofline = report::render_roofline_text(plot, options);
  }
  std::string tables = report::render_bench_text(run, options);
  if (roofline.empty()) {
    return tables;
  }
  // What the run is about comes first.
  const bool is_roofline = std::ranges::any_of(
      run.tests, [](const analysis::TestResult& test) { return test.id.starts_with("roofline."); });
  return is_roofline ? roofline + "\n" + tables : tables + "\n" + roofline;
}

std::string stimulus_section(const analysis::StimulusMatrix& matrix,
                             const report::TextOptions& options) {
  return matrix.points > 0 ? "\n" + report::render_stimulus_text(matrix, options) : std::string();
}

std::string results_text(std::span<const store::ResultRun> runs,
                         const analysis::StimulusMatrix& matrix,
                         const report::TextOptions& options) {
  std::string text;
  for (const store::ResultRun& stored : runs) {
    text += text.empty() ? "" : "\n";
    text += run_text(bench_run(stored), options);
  }
  return text + stimulus_section(matrix, options);
}

std::string results_json(std::span<const store::ResultRun> runs,
                         const analysis::StimulusMatrix& matrix) {
  const report::JsonLayout layout =
      runs.size() == 1 ? report::JsonLayout::kIndented : report::JsonLayout::kOneLine;
  std::string text;
  for (const store::ResultRun& run : runs) {
    text += report::render_bench_json(bench_run(run), layout, &matrix);
  }
  return text;
}

}  // namespace gputrace::commands
