#include "cli/commands/report/machine_report.h"

#include "cli/commands/bench/result_file.h"
#include "cli/report/bench_json.h"
#include "cli/report/bench_text.h"

namespace gputrace::commands {

std::string results_text(std::span<const store::ResultRun> runs,
                         const report::TextOptions& options) {
  std::string text;
  for (const store::ResultRun& run : runs) {
    text += (text.empty() ? "" : "\n") + report::render_bench_text(bench_run(run), options);
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
