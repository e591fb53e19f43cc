// The command line of `gputrace bench`.
#pragma once

#include <string>
#include <vector>

#include "cli/report/render_text.h"
#include "daemon/base/result.h"
#include "kernels/bench/bench_test.h"

namespace gputrace::commands {

struct BenchOptions {
  bool help = false;
  bool list = false;  ///< of the tests; nothing is measured
  /// To be run, in the order of bench::bench_tests(), each once.
  std::vector<const bench::BenchTest*> tests;
  std::string device;
  std::string gpu;
  bool quick = false;
  bool json = false;
  bool save = true;
  report::TextOptions text;
};

/// kUsage for a test that does not exist, with those that do, and for no test at all.
[[nodiscard]] Result<BenchOptions> parse_bench_options(const std::vector<std::string>& arguments);

[[nodiscard]] std::string bench_help();

}  // namespace gputrace::commands
