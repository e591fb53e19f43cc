// What --json of a bench is said to have written: it is refused with a reason, or it is a run that
// is read the same when it is written again,
// and that does not differ from itself.
#include "cli/report/bench_json.h"

#include <cmath>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>

#include "cli/analysis/bench_comparison.h"
#include "cli/analysis/published_figures.h"
#include "cli/report/bench_json_input.h"

// NOLINTNEXTLINE(readability-identifier-naming): libFuzzer's name
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace gputrace;
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  Result<analysis::BenchRun> run = report::parse_bench_json(text);
  if (!run) {
    GPUTRACE_CHECK(run.error().code == ErrorCode::kCorrupt && !run.error().message.empty());
    return 0;
  }
  const std::string written = report::render_bench_json(*run, report::JsonLayout::kOneLine);
  const Result<analysis::BenchRun> again = report::parse_bench_json(written);
  GPUTRACE_CHECK(again.has_value());
  GPUTRACE_CHECK(report::render_bench_json(*again, report::JsonLayout::kOneLine) == written);
  for (const analysis::BenchRatio& row :
       analysis::compare_benches(std::span(&*run, 1), std::span(&*again, 1)).series) {
    // The same runs on both sides never differ.
    GPUTRACE_CHECK(row.reality != analysis::Reality::kReal);
    GPUTRACE_CHECK(!row.ratio || (std::isfinite(*row.ratio) && *row.ratio > 0));
  }
  const auto rows = analysis::beside_published(*run, analysis::published_figures());
  GPUTRACE_CHECK(rows.size() == analysis::published_figures().size());
  return 0;
}
