#include "cli/commands/report/machine_report.h"

#include <fmt/format.h>

#include "cli/commands/bench/result_file.h"
#include "cli/report/bench_json.h"
#include "cli/report/bench_text.h"

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

std::string results_text(std::span<const store::ResultRun> runs,
                         const report::TextOptions& options) {
  std::string text;
  for (const store::ResultRun& stored : runs) {
    const analysis::BenchRun run = bench_run(stored);
    const report::RooflinePlot plot = roofline_plot_of(run);
    text += text.empty() ? "" : "\n";
    if (!plot.roofline.compute.empty() && !plot.roofline.bandwidth.empty()) {
      text += report::render_roofline_text(plot, options) + "\n";
    }
    text += report::render_bench_text(run, options);
  }
  return text;
}

std::string results_json(std::span<const store::ResultRun> runs) {
  const report::JsonLayout layout =
      runs.size() == 1 ? report::JsonLayout::kIndented : report::JsonLayout::kOneLine;
  std::string text;
  for (const store::ResultRun& run : runs) {
    text += report::render_bench_json(bench_run(run), layout);
  }
  return text;
}

}  // namespace gputrace::commands
