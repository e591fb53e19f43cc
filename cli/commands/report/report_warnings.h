// What a reader of a report must know before trusting it: finding, consequence, what to do.
#pragma once

#include <vector>

#include "cli/report/report.h"
#include "daemon/store/session.h"

namespace gputrace::commands {

/// Warnings that follow from the finished report itself, and from what happened while recording.
[[nodiscard]] std::vector<report::Warning> report_warnings(const report::Report& report,
                                                           const std::vector<store::Event>& events,
                                                           bool has_window_means);

}  // namespace gputrace::commands
