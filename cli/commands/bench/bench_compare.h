// gputrace bench compare: two runs, or one and published figures.
#pragma once

#include <string>
#include <vector>

#include "daemon/base/result.h"

namespace gputrace::commands {

/// `arguments` without "compare". The exit status: 3 when a condition of --fail-on holds.
[[nodiscard]] Result<int> run_bench_compare(const std::vector<std::string>& arguments);

}  // namespace gputrace::commands
