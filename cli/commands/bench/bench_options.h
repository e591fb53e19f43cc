// The command line of `gputrace bench`.
#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "cli/commands/bench/measuring_options.h"
#include "daemon/base/result.h"
#include "kernels/bench/bench_test.h"

namespace gputrace::commands {

struct BenchOptions : MeasuringOptions {
  bool help = false;
  bool list = false;  ///< of the tests; nothing is measured
  /// To be run, in the order of bench::bench_tests(), each once.
  std::vector<const bench::BenchTest*> tests;
  std::optional<std::filesystem::path> svg;   ///< a folder
  std::optional<std::filesystem::path> html;  ///< a file
};

/// kUsage for a test that does not exist, with those that do, and for no test at all.
[[nodiscard]] Result<BenchOptions> parse_bench_options(const std::vector<std::string>& arguments);

[[nodiscard]] std::string bench_help();

}  // namespace gputrace::commands
