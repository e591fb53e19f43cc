// Times on the command line: seconds from the start of a session.
#pragma once

#include <string_view>

#include "daemon/base/result.h"

namespace gputrace::commands {

/// "12.5", "1:30", "1:02:03.5". kUsage names `option` when it is anything else.
[[nodiscard]] Result<double> parse_time_offset(std::string_view option, std::string_view text);

}  // namespace gputrace::commands
