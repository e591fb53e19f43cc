// How `roofline`, `bench` and `calibrate` begin, run tests on a session's device, and end.
#pragma once

#include <filesystem>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "cli/analysis/bench_result.h"
#include "cli/commands/bench/bench_session.h"
#include "daemon/base/result.h"
#include "kernels/bench/bench_test.h"

namespace gputrace::commands {

/// As `gputrace COMMAND ARGUMENTS...` was typed.
[[nodiscard]] std::vector<std::string> typed_command(std::string_view command,
                                                     const std::vector<std::string>& arguments);

/// A run without results: the device, the time, and what the sensors say before anything runs.
[[nodiscard]] analysis::BenchRun begin_run(BenchSession& session, bool quick);

/// Adds the tests' results to the run. A device that was lost ends its test: it is opened again for
/// the next. Ctrl-C ends them all, and what was measured is there. Progress counts the time of the
/// tests to come as well. `options`: those of the session, or what a command made of them.
void run_bench_tests(std::span<const bench::BenchTest* const> tests, BenchSession& session,
                     const bench::MeasurementOptions& options, analysis::BenchRun& run);

/// Says on stderr where the results are; `stored` as BenchSession::finish() returned it.
[[nodiscard]] Status tell_stored(const Result<std::optional<std::filesystem::path>>& stored);

/// The exit status, when all is printed: 0, or the error of a run that was stopped, or of which a
/// test failed.
[[nodiscard]] Result<int> status_of(const analysis::BenchRun& run);

}  // namespace gputrace::commands
