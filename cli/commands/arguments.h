// Command lines: one cxxopts parser a subcommand, with the errors of the house.
#pragma once

#include <fmt/format.h>

#include <cxxopts.hpp>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "daemon/base/result.h"

namespace gputrace::commands {

/// Parses `arguments` (without the subcommand). Unknown options, missing values and more positional
/// words than `options` names are kUsage. cxxopts throws; nothing leaves this function.
[[nodiscard]] Result<cxxopts::ParseResult> parse_arguments(
    cxxopts::Options& options, const std::vector<std::string>& arguments);

/// The end of a command: `run` with what was parsed, or the help where that was asked for (absent).
template <class Arguments, class Run>
[[nodiscard]] Result<int> run_or_help(const Result<std::optional<Arguments>>& parsed,
                                      std::string_view help, const Run& run) {
  if (!parsed) {
    return tl::unexpected<Error>(parsed.error());
  }
  if (const std::optional<Arguments>& wanted = *parsed; wanted.has_value()) {
    return run(*wanted);
  }
  fmt::print("{}", help);
  return 0;
}

}  // namespace gputrace::commands
