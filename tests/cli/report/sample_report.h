// A report built by hand, for the renderers' tests.
#pragma once

#include "cli/report/report.h"

namespace gputrace::test {

/// Ten seconds of a simulated game with every kind of unit in it, and two warnings.
[[nodiscard]] report::Report sample_report();
/// The same session with nothing readable: no units, all samples unknown.
[[nodiscard]] report::Report sample_report_without_samples();
/// The first one with sensors, processes and frames.
[[nodiscard]] report::Report sample_report_with_evidence();

}  // namespace gputrace::test
