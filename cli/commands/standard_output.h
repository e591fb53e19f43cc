// Standard output for results: a full disk or a closed pipe is an error, not a short answer.
#pragma once

#include <string_view>

#include "daemon/base/result.h"

namespace gputrace::commands {

[[nodiscard]] Status write_stdout(std::string_view text);

}  // namespace gputrace::commands
