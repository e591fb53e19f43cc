// Command lines: one cxxopts parser a subcommand, with the errors of the house.
#pragma once

#include <cxxopts.hpp>
#include <optional>
#include <string>
#include <vector>

#include "daemon/base/result.h"

namespace gputrace::commands {

/// Parses `arguments` (without the subcommand). Unknown options, missing values and more positional
/// words than `options` names are kUsage. cxxopts throws; nothing leaves this function.
[[nodiscard]] Result<cxxopts::ParseResult> parse_arguments(
    cxxopts::Options& options, const std::vector<std::string>& arguments);

}  // namespace gputrace::commands
