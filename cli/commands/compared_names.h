// Names of what is compared: several of a side, repeats, with commas between them.
#pragma once

#include <string>
#include <vector>

#include "daemon/base/result.h"

namespace gputrace::commands {

/// "a.gputrace,b.gputrace" as two, unless a file has that whole name. kUsage: a name is empty, or
/// there twice.
[[nodiscard]] Result<std::vector<std::string>> split_compared_names(const std::string& word);

}  // namespace gputrace::commands
