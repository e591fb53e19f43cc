#include "daemon/store/session_row.h"

#include <string>
#include <utility>
#include <vector>

#include "daemon/store/session_kind.h"

namespace gputrace::store {

Result<SessionRow> load_session(Database& database) {
  std::optional<SessionRow> session;
  Status status = for_each_row(
      database,
      "SELECT kind, label, origin, started_monotonic_ns, started_boottime_ns, "
      "started_realtime_ns, end_ns, exit_code, signal FROM session",
      [&](const Statement& row) -> Status {
        const std::optional<SessionKind> kind = parse_session_kind(row.text(0));
        if (!kind) {
          return fail(ErrorCode::kCorrupt, "a session of an unknown kind");
        }
        SessionRow& loaded = session.emplace();
        loaded.description.kind = *kind;
        if (!row.is_null(1)) {
          loaded.description.label = row.text(1);
        }
        loaded.description.origin = row.text(2);
        if (!row.is_null(3)) {
          loaded.description.started = {row.integer(3), row.integer(4), row.integer(5)};
        }
        if (!row.is_null(6)) {
          SessionEnd& end = loaded.end.emplace();
          end.end_ns = row.integer(6);
          if (!row.is_null(7)) {
            end.exit_code = static_cast<int>(row.integer(7));
          }
          if (!row.is_null(8)) {
            end.signal = static_cast<int>(row.integer(8));
          }
        }
        return {};
      });
  if (!session) {
    return status ? fail(ErrorCode::kCorrupt, "the session row is missing")
                  : tl::unexpected<Error>(status.error());
  }
  if (status) {
    status = for_each_row(database, "SELECT word FROM command_words ORDER BY position",
                          [&](const Statement& row) -> Status {
                            std::optional<std::vector<std::string>>& command =
                                session->description.command;
                            (command ? *command : command.emplace()).push_back(row.text(0));
                            return {};
                          });
  }
  if (!status) {
    return tl::unexpected<Error>(status.error());
  }
  return std::move(*session);
}

}  // namespace gputrace::store
