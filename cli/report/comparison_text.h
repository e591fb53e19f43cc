// A comparison for a terminal or a pipe: the verdict, then tables.
#pragma once

#include <string>

#include "cli/report/comparison_report.h"
#include "cli/report/render_text.h"

namespace gputrace::report {

/// `all`: also the units of single shader engines that do not differ.
[[nodiscard]] std::string render_comparison_text(const ComparisonReport& report,
                                                 const TextOptions& options, bool all);

}  // namespace gputrace::report
