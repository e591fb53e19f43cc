// Results between the analysis and the session file.
#pragma once

#include "cli/analysis/bench_result.h"
#include "daemon/store/results.h"

namespace gputrace::commands {

[[nodiscard]] store::ResultRun stored_run(const analysis::BenchRun& run);
[[nodiscard]] analysis::BenchRun bench_run(const store::ResultRun& stored);

}  // namespace gputrace::commands
