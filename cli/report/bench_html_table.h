// The points of a test of a bench as a folded table of an HTML page.
#pragma once

#include "cli/analysis/bench_result.h"
#include "cli/report/html_page.h"

namespace gputrace::report {

/// All points: of curves a row for each place on the axis, else a row for each point. Nothing for a
/// test without points.
void add_bench_table(HtmlPage& page, const analysis::TestResult& test);

}  // namespace gputrace::report
