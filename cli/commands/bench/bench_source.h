// Runs of the bench that `bench compare` is given by name.
#pragma once

#include <filesystem>
#include <string>

#include "cli/analysis/bench_result.h"
#include "daemon/base/result.h"

namespace gputrace::commands {

struct BenchSource {
  std::filesystem::path file;
  analysis::BenchRun run;
};

/// A file of a bench or a roofline, what their --json wrote, or a name from `gputrace list --all`.
[[nodiscard]] Result<BenchSource> open_bench_source(const std::string& name);

/// The newest run in the machine folder that began before `run`, on the same device, and shares a
/// test with it. kNotFound when there is none.
[[nodiscard]] Result<BenchSource> earlier_run(const BenchSource& run);

}  // namespace gputrace::commands
