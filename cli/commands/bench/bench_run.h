// Runs tests of the bench one after the other on a session's device.
#pragma once

#include <span>
#include <string>

#include "cli/analysis/bench_result.h"
#include "cli/commands/bench/bench_session.h"
#include "kernels/bench/bench_test.h"

namespace gputrace::commands {

/// A device that was lost ends its test: it is opened again for the next. Ctrl-C ends them all, and
/// what was measured is there. Progress counts the time of the tests to come as well.
[[nodiscard]] analysis::BenchRun run_bench_tests(std::span<const bench::BenchTest* const> tests,
                                                 BenchSession& session, bool quick);

/// The first test that failed, in one line; empty when none did.
[[nodiscard]] std::string failure_of(const analysis::BenchRun& run);

}  // namespace gputrace::commands
