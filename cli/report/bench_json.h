// Results of the benches and of the roofline as JSON, schema gputrace.bench/1.
#pragma once

#include <string>
#include <string_view>

#include "cli/analysis/bench_result.h"
#include "cli/analysis/stimulus_matrix.h"
#include "cli/report/render_json.h"

namespace gputrace::report {

/// Ends in a newline. What is not known, not finite or not done is null, never 0. All series of a
/// test share the axis: their lists have its length, with null where a series has no point.
/// `matrix`: what the samples of the run say; null = nothing was sampled.
[[nodiscard]] std::string render_bench_json(const analysis::BenchRun& run,
                                            JsonLayout layout = JsonLayout::kIndented,
                                            const analysis::StimulusMatrix* matrix = nullptr);

/// "ok", "skipped", "suspect", "failed".
[[nodiscard]] std::string_view status_name(analysis::TestStatus status);

}  // namespace gputrace::report
