// A comparison as JSON, schema gputrace.compare/1.
#pragma once

#include <string>

#include "cli/report/comparison_report.h"

namespace gputrace::report {

/// Ends in a newline. What is not known is null, never 0; "real" is null where it cannot be told,
/// and "why" says why.
[[nodiscard]] std::string render_comparison_json(const ComparisonReport& report);

}  // namespace gputrace::report
