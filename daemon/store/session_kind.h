// The text of a session's kind in the file.
#pragma once

#include <optional>
#include <string_view>

#include "daemon/store/session.h"

namespace gputrace::store {

[[nodiscard]] std::string_view to_string(SessionKind kind);
[[nodiscard]] std::optional<SessionKind> parse_session_kind(std::string_view text);
/// Roofline, bench and calibration: its results are what the file is for.
[[nodiscard]] bool describes_machine(SessionKind kind);

}  // namespace gputrace::store
