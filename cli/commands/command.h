// A subcommand of gputrace: one file each in this folder, listed once in cli/main.cpp.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "daemon/base/result.h"

namespace gputrace::commands {

/// `run` gets the words after the subcommand and returns the exit status. Errors are returned, not
/// printed; ErrorCode::kUsage makes main print a pointer to the help and exit 2.
struct Command {
  std::string_view name;
  std::string_view summary;  ///< one line of `gputrace --help`
  Result<int> (*run)(const std::vector<std::string>& arguments);
};

Result<int> run_bench(const std::vector<std::string>& arguments);
Result<int> run_compare(const std::vector<std::string>& arguments);
Result<int> run_calibrate(const std::vector<std::string>& arguments);
Result<int> run_decode(const std::vector<std::string>& arguments);
Result<int> run_doctor(const std::vector<std::string>& arguments);
Result<int> run_fetch(const std::vector<std::string>& arguments);
Result<int> run_gpus(const std::vector<std::string>& arguments);
Result<int> run_import(const std::vector<std::string>& arguments);
Result<int> run_kernels(const std::vector<std::string>& arguments);
Result<int> run_list(const std::vector<std::string>& arguments);
Result<int> run_mark(const std::vector<std::string>& arguments);
Result<int> run_record(const std::vector<std::string>& arguments);
Result<int> run_report(const std::vector<std::string>& arguments);
Result<int> run_roofline(const std::vector<std::string>& arguments);
Result<int> run_sql(const std::vector<std::string>& arguments);
Result<int> run_status(const std::vector<std::string>& arguments);

}  // namespace gputrace::commands
