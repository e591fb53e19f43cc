#include "daemon/store/query.h"

#include <fmt/format.h>
#include <sqlite3.h>

#include <algorithm>
#include <array>

#include "daemon/store/database.h"
#include "daemon/store/session_file.h"

namespace gputrace::store {

namespace {

constexpr int kInstructionsPerCheck = 10'000;
constexpr std::array<std::string_view, 5> kDescribingPragmas{
    "table_info", "table_xinfo", "table_list", "user_version", "application_id"};

int authorize(void* /*context*/, int action, const char* first, const char* second,
              const char* /*database*/, const char* /*view*/) {
  switch (action) {
    case SQLITE_SELECT:
    case SQLITE_READ:
    case SQLITE_RECURSIVE:
      return SQLITE_OK;
    case SQLITE_FUNCTION:
      return std::string_view(second) == "load_extension" ? SQLITE_DENY : SQLITE_OK;
    case SQLITE_PRAGMA:
      return std::find(kDescribingPragmas.begin(), kDescribingPragmas.end(), first) !=
                     kDescribingPragmas.end()
                 ? SQLITE_OK
                 : SQLITE_DENY;
    default:
      return SQLITE_DENY;
  }
}

int out_of_time(void* deadline_ns) {
  return monotonic_now_ns() > *static_cast<std::int64_t*>(deadline_ns) ? 1 : 0;
}

QueryValue value_of(sqlite3_stmt* row, int column) {
  switch (sqlite3_column_type(row, column)) {
    case SQLITE_INTEGER:
      return std::int64_t{sqlite3_column_int64(row, column)};
    case SQLITE_FLOAT:
      return sqlite3_column_double(row, column);
    case SQLITE_TEXT: {
      const auto* text = static_cast<const char*>(sqlite3_column_blob(row, column));
      const auto size = static_cast<std::size_t>(sqlite3_column_bytes(row, column));
      return text == nullptr ? std::string() : std::string(text, size);
    }
    case SQLITE_BLOB:
      return BlobSize{static_cast<std::size_t>(sqlite3_column_bytes(row, column))};
    default:
      return std::monostate{};
  }
}

/// Prepares one statement and refuses a second one behind it.
Result<Statement> prepare_single(Database& database, std::string_view sql) {
  sqlite3_stmt* prepared = nullptr;
  const char* rest = nullptr;
  const int code = sqlite3_prepare_v2(database.handle(), sql.data(), static_cast<int>(sql.size()),
                                      &prepared, &rest);
  if (code == SQLITE_AUTH) {
    return fail(ErrorCode::kInvalidArgument,
                "the query is refused: it may only SELECT from the session's tables");
  }
  if (code != SQLITE_OK) {
    return tl::unexpected<Error>(error_from_sqlite(database.handle(), code, "the query failed"));
  }
  Statement statement(database.handle(), prepared);
  const std::string_view tail = sql.substr(static_cast<std::size_t>(rest - sql.data()));
  if (prepared == nullptr || tail.find_first_not_of(" \t\r\n;") != std::string_view::npos) {
    return fail(ErrorCode::kInvalidArgument,
                prepared == nullptr ? "the query is empty"
                                    : "give one query at a time; this is more than one");
  }
  return statement;
}

Status visit_rows(Database& database, Statement& statement, const QueryLimits& limits,
                  const QueryVisitor& visitor) {
  const int columns = sqlite3_column_count(statement.handle());
  std::vector<std::string> names;
  names.reserve(static_cast<std::size_t>(columns));
  for (int i = 0; i < columns; ++i) {
    const char* name = sqlite3_column_name(statement.handle(), i);
    names.emplace_back(name == nullptr ? "" : name);
  }
  visitor.columns(names);
  std::vector<QueryValue> row(names.size());
  for (;;) {
    const int code = sqlite3_step(statement.handle());
    if (code == SQLITE_DONE) {
      return {};
    }
    if (code == SQLITE_INTERRUPT) {
      return fail(ErrorCode::kBusy,
                  fmt::format("the query was stopped after {:g} s; --timeout allows more",
                              static_cast<double>(limits.time_ns) * 1e-9));
    }
    if (code != SQLITE_ROW) {
      return tl::unexpected<Error>(error_from_sqlite(database.handle(), code, "the query failed"));
    }
    for (int i = 0; i < columns; ++i) {
      row[static_cast<std::size_t>(i)] = value_of(statement.handle(), i);
    }
    if (Status status = visitor.row(row); !status) {
      return status;
    }
  }
}

}  // namespace

Status query_session(const std::filesystem::path& path, std::string_view sql,
                     const QueryLimits& limits, const QueryVisitor& visitor) {
  constexpr std::size_t kMaxQueryBytes = 1 << 20;
  if (sql.size() > kMaxQueryBytes) {
    return fail(ErrorCode::kInvalidArgument, "the query is longer than a megabyte");
  }
  Result<Database> database = open_session_database(path);
  if (!database) {
    return tl::unexpected<Error>(database.error());
  }
  std::int64_t deadline_ns = monotonic_now_ns() + limits.time_ns;
  sqlite3_progress_handler(database->handle(), kInstructionsPerCheck, out_of_time, &deadline_ns);
  sqlite3_set_authorizer(database->handle(), authorize, nullptr);
  const std::int64_t old_limit = sqlite3_hard_heap_limit64(limits.memory_bytes);
  Result<Statement> statement = prepare_single(*database, sql);
  const Status status = statement ? visit_rows(*database, *statement, limits, visitor)
                                  : Status(tl::unexpected<Error>(statement.error()));
  sqlite3_hard_heap_limit64(old_limit);
  return status;
}

}  // namespace gputrace::store
