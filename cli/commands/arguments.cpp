#include "cli/commands/arguments.h"

namespace gputrace::commands {

Result<cxxopts::ParseResult> parse_arguments(cxxopts::Options& options,
                                             const std::vector<std::string>& arguments) {
  std::vector<const char*> argv{options.program().c_str()};
  for (const std::string& argument : arguments) {
    argv.push_back(argument.c_str());
  }
  try {
    cxxopts::ParseResult parsed = options.parse(static_cast<int>(argv.size()), argv.data());
    if (!parsed.unmatched().empty()) {
      return fail(ErrorCode::kUsage, "unexpected argument '" + parsed.unmatched().front() + "'");
    }
    return parsed;
  } catch (const std::exception& error) {
    return fail(ErrorCode::kUsage, error.what());
  }
}

}  // namespace gputrace::commands
