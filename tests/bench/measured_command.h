// Runs a program as a benchmark sees it: how long, how much CPU, what it printed.
#pragma once

#include <string>
#include <vector>

#include "daemon/base/result.h"

namespace gputrace::bench {

struct MeasuredCommand {
  int exit_status = 0;  ///< 128+N after signal N
  double wall_s = 0;
  double cpu_s = 0;    ///< user and system, of the program and all children it waited for
  std::string output;  ///< its standard output
};

/// Standard error stays ours. kNotFound when there is no such program.
[[nodiscard]] Result<MeasuredCommand> measure_command(const std::vector<std::string>& words);

/// The same, and an exit status other than 0 is an error.
[[nodiscard]] Result<MeasuredCommand> measure_success(const std::vector<std::string>& words);

}  // namespace gputrace::bench
