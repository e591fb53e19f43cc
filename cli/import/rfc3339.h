// Dates with times, as RFC 3339 writes them.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

namespace gputrace::import {

/// CLOCK_REALTIME nanoseconds of "2026-11-29T22:27:15.25Z" or "...+01:00", years 1970 to 2100;
/// nothing for other text.
[[nodiscard]] std::optional<std::int64_t> parse_rfc3339(std::string_view text);

}  // namespace gputrace::import
