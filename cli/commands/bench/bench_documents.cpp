#include "cli/commands/bench/bench_documents.h"

#include <fmt/format.h>

#include <algorithm>
#include <string>
#include <system_error>
#include <vector>

#include "cli/commands/report/machine_report.h"
#include "cli/commands/write_document.h"
#include "cli/report/bench_html.h"
#include "cli/report/bench_plot.h"
#include "cli/report/bench_svg.h"

namespace gputrace::commands {

namespace {

/// Ids are ours, or from a file of anybody's.
std::string file_name(const std::string& id) {
  std::string name = id.empty() ? "unnamed" : id;
  for (char& c : name) {
    const bool plain = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
                       c == '.' || c == '_' || c == '-';
    c = plain ? c : '_';
  }
  if (name.front() == '.') {
    name.front() = '_';
  }
  return name + ".svg";
}

std::vector<report::BenchPlot> plots_of(const analysis::BenchRun& run) {
  std::vector<report::BenchPlot> plots = report::overview_plots(run);
  for (const analysis::TestResult& test : run.tests) {
    report::BenchPlot plot = report::bench_plot_of(test);
    if (plot.kind != report::PlotKind::kNone) {
      plots.push_back(std::move(plot));
    }
  }
  return plots;
}

}  // namespace

Status create_drawings_folder(const std::filesystem::path& folder) {
  std::error_code error;
  std::filesystem::create_directories(folder, error);
  if (!std::filesystem::is_directory(folder)) {
    return error ? Status(fail_errno(error.value(), "cannot create " + folder.string()))
                 : Status(fail(ErrorCode::kExists,
                               folder.string() + " is not a folder; --svg wants one"));
  }
  return {};
}

Status write_drawings(const analysis::BenchRun& run, const std::filesystem::path& folder) {
  if (const Status created = create_drawings_folder(folder); !created) {
    return created;
  }
  const std::vector<report::BenchPlot> plots = plots_of(run);
  if (plots.empty()) {
    return fail(
        ErrorCode::kNotFound,
        fmt::format("{}: no test has a figure, so there is nothing to draw", folder.string()));
  }
  report::BenchSvgOptions options;
  options.device = roofline_plot_of(run).title;
  options.simulated = run.device.simulated;
  for (const report::BenchPlot& plot : plots) {
    const Status written =
        write_document(folder / file_name(plot.id), report::render_bench_svg(plot, options));
    if (!written) {
      return written;
    }
  }
  return {};
}

Status write_bench_page(const analysis::BenchRun& run, const std::filesystem::path& file) {
  return write_document(
      file, report::render_bench_html(run, roofline_plot_of(run), {.version = GPUTRACE_VERSION}));
}

}  // namespace gputrace::commands
