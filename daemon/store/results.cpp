#include "daemon/store/results.h"

#include <fmt/format.h>

#include <utility>

#include "daemon/store/result_rows.h"
#include "daemon/store/session_file.h"
#include "daemon/store/session_kind.h"
#include "daemon/store/session_row.h"

namespace gputrace::store {

namespace {

Status append_to(Database& database, std::span<const ResultRun> runs) {
  Status status = database.execute("BEGIN IMMEDIATE");
  const Result<SessionRow> session =
      status ? load_session(database) : tl::unexpected<Error>(status.error());
  if (!session) {
    return tl::unexpected<Error>(session.error());
  }
  const SessionKind kind = session->description.kind;
  if (!describes_machine(kind) && kind != SessionKind::kRecording) {
    return fail(
        ErrorCode::kInvalidArgument,
        "results are kept in files of rooflines, benches, calibrations and recordings alone");
  }
  status = insert_results(database, runs);
  return status ? database.execute("COMMIT") : status;
}

}  // namespace

Status append_results(const std::filesystem::path& path, std::span<const ResultRun> runs) {
  Result<Database> database = open_finished_session(path);
  if (!database) {
    return tl::unexpected<Error>(database.error());
  }
  Status status = append_to(*database, runs);
  if (!status) {
    if (database->in_transaction()) {
      [[maybe_unused]] const Status undone = database->execute("ROLLBACK");
    }
    return fail(status.error(), "cannot store results in " + path.string());
  }
  return {};
}

Status create_result_file(const std::filesystem::path& path, OnExisting on_existing,
                          const SessionDescription& description, const SessionEnd& end,
                          std::span<const ResultRun> runs) {
  Status status;
  {
    Result<SessionWriter> writer = SessionWriter::create(path, on_existing, description);
    if (!writer) {
      return tl::unexpected<Error>(writer.error());
    }
    const Result<SessionWriter::Finished> finished = writer->finish(end);
    if (!finished) {
      status = tl::unexpected<Error>(finished.error());
    }
  }
  if (status) {
    status = append_results(path, runs);
  }
  if (!status) {
    [[maybe_unused]] const Status removed = remove_session_file(path);
  }
  return status;
}

}  // namespace gputrace::store
