// Points in time on the command line: "2 h ago", "14:00", "yesterday 14:00", RFC 3339.
#pragma once

#include <cstdint>
#include <string_view>

#include "daemon/base/result.h"

namespace gputrace::commands {

/// CLOCK_REALTIME nanoseconds, in the local time zone where `text` names none. A time of day
/// without a date is the last one before `now_ns`. kUsage names `option` for anything else, and for
/// what is not in the past.
[[nodiscard]] Result<std::int64_t> parse_moment(std::string_view option, std::string_view text,
                                                std::int64_t now_ns);

}  // namespace gputrace::commands
