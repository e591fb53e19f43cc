// Results of the benches and of the roofline for a terminal: one table a test.
#pragma once

#include <string>

#include "cli/analysis/bench_result.h"
#include "cli/report/render_text.h"

namespace gputrace::report {

/// Who it was measured on, then each test with its points, proofs and what was read from them. A
/// simulated device is the first thing said.
[[nodiscard]] std::string render_bench_text(const analysis::BenchRun& run,
                                            const TextOptions& options);

/// Four digits: "0.0312", "4.951", "83.20", "4,012"; counts whole: "2".
[[nodiscard]] std::string format_figure(double value);
/// "64 B", "5.7 KiB", "128 MiB".
[[nodiscard]] std::string format_bytes(double bytes);

}  // namespace gputrace::report
