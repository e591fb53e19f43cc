// A run of the bench as one self-contained HTML page: no network, no second file, no script.
#pragma once

#include <string>

#include "cli/analysis/bench_result.h"
#include "cli/report/html.h"
#include "cli/report/roofline_plot.h"

namespace gputrace::report {

/// Answers first, then what is wrong, device, roofline (where `roofline` has ceilings), and each
/// test with drawing, table and proofs. Whatever strings the run holds, none of them leaves its
/// place in the page.
[[nodiscard]] std::string render_bench_html(const analysis::BenchRun& run,
                                            const RooflinePlot& roofline,
                                            const HtmlOptions& options);

}  // namespace gputrace::report
