// The table of a test with several curves over one axis: a row for each place, a column for each
// curve.
#pragma once

#include "cli/analysis/bench_result.h"
#include "cli/report/text_format.h"

namespace gputrace::report {

/// Whether the test is one of these.
[[nodiscard]] bool has_curves(const analysis::TestResult& test);

/// Medians of all series, and the spread and runs of the first. Of many places the powers of two,
/// and those where something is wrong; how many more there are is said.
void append_curve_table(Page& page, const analysis::TestResult& test);

}  // namespace gputrace::report
