// A command typed as one word of the command line, cut into words as a shell would cut it, so that
// it can be executed without one.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "daemon/base/result.h"

namespace gputrace::commands {

/// Quotes and backslashes as POSIX has them (Shell Command Language, 2.2). What asks a shell for
/// more than words (variables, pipes, patterns) is kUsage unless it is quoted, as is an open quote
/// and a line without words.
[[nodiscard]] Result<std::vector<std::string>> split_shell_words(std::string_view line);

/// The words as they can be typed into a shell.
[[nodiscard]] std::string quote_for_shell(const std::vector<std::string>& words);

}  // namespace gputrace::commands
