// The table of a test's points.
#pragma once

#include "cli/analysis/bench_result.h"
#include "cli/report/text_format.h"

namespace gputrace::report {

/// Nothing for a test without points. Columns that no point has a value for are left out; a reason
/// stands below its row, and once for rows that share it.
void append_bench_table(Page& page, const analysis::TestResult& test);

}  // namespace gputrace::report
