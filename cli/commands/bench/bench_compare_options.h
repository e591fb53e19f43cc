// The command line of `gputrace bench compare`.
#pragma once

#include <string>
#include <vector>

#include "cli/analysis/bench_fail_condition.h"
#include "cli/report/render_text.h"
#include "daemon/base/result.h"

namespace gputrace::commands {

struct BenchCompareOptions {
  bool help = false;
  /// Names of runs, several of a side as repeats; "published:list" alone.
  std::vector<std::string> a;
  /// Empty: `a` against the newest earlier run; or "published:NAME".
  std::vector<std::string> b;
  std::vector<analysis::BenchFailCondition> conditions;
  bool json = false;
  report::TextOptions text;
};

[[nodiscard]] Result<BenchCompareOptions> parse_bench_compare_options(
    const std::vector<std::string>& arguments);

[[nodiscard]] std::string bench_compare_help();

}  // namespace gputrace::commands
