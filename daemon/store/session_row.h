// Reads the row that describes a session, its command and its end.
#pragma once

#include <optional>

#include "daemon/store/database.h"
#include "daemon/store/session.h"

namespace gputrace::store {

struct SessionRow {
  SessionDescription description;
  std::optional<SessionEnd> end;
};
[[nodiscard]] Result<SessionRow> load_session(Database& database);

}  // namespace gputrace::store
