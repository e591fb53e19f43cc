// How text for people is to be written: what --color and --ascii say, and what the terminal can do.
#pragma once

#include <string>

#include "cli/report/render_text.h"
#include "daemon/base/result.h"

namespace gputrace::commands {

/// For standard output. `color`: "auto" (in a terminal, unless NO_COLOR is set or TERM is dumb),
/// "always" or "never"; kUsage else. ASCII alone also when the locale is not UTF-8.
[[nodiscard]] Result<report::TextOptions> text_options(const std::string& color, bool ascii);

}  // namespace gputrace::commands
