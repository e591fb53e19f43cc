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
// A pattern or a text of megabytes would keep SQLite in one instruction, where no time limit looks.
constexpr int kMaxPatternBytes = 1000;
// Those that describe tables take the table's name, those that give a number would set it.
constexpr std::array<std::string_view, 3> kTablePragmas{"table_info", "table_xinfo", "table_list"};
constexpr std::array<std::string_view, 2> kNumberPragmas{"user_version", "application_id"};
constexpr std::array<std::string_view, 2> kRefusedFunctions{"load_extension", "fts3_tokenizer"};

template <std::size_t N>
bool is_one_of(const std::array<std::string_view, N>& names, const char* name) {
  return name != nullptr && std::find(names.begin(), names.end(), name) != names.end();
}

int authorize(void* /*context*/, int action, const char* first, const char* second,
              const char* /*database*/, const char* /*view*/) {
  switch (action) {
    case SQLITE_SELECT:
    case SQLITE_READ:
    case SQLITE_RECURSIVE:
      return SQLITE_OK;
    case SQLITE_FUNCTION:
      return is_one_of(kRefusedFunctions, second) ? SQLITE_DENY : SQLITE_OK;
    case SQLITE_PRAGMA:
      return is_one_of(kTablePragmas, first) ||
                     (second == nullptr && is_one_of(kNumberPragmas, first))
                 ? SQLITE_OK
                 : SQLITE_DENY;
    default:
      return SQLITE_DENY;
  }
}

int out_of_time(void* deadline_ns) {
  return monotonic_now_ns() > *static_cast<std::int64_t*>(deadline_ns) ? 1 : 0;
}

Error refused() {
  return {ErrorCode::kInvalidArgument,
          "the query is refused: it may only SELECT from the session's tables"};
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

Error query_error(Database& database, int code, const QueryLimits& limits) {
  const std::string_view message = sqlite3_errmsg(database.handle());
  switch (code & 0xff) {
    case SQLITE_INTERRUPT:
      return {ErrorCode::kBusy, fmt::format("the query was stopped after {:g} s; --timeout allows "
                                            "more",
                                            static_cast<double>(limits.time_ns) * 1e-9)};
    case SQLITE_NOMEM:
      return {ErrorCode::kUnsupported,
              fmt::format("the query needs more than {} MB of memory; ask for less at once",
                          limits.memory_bytes >> 20)};
    case SQLITE_AUTH:
    case SQLITE_READONLY:
      return refused();
    case SQLITE_ERROR:
      // From inside a statement (VACUUM INTO, pragma_x tables) a refusal is a plain error.
      if (message.rfind("not authorized", 0) == 0 || message == "authorization denied") {
        return refused();
      }
      break;
    default:
      break;
  }
  return error_from_sqlite(database.handle(), code, "the query failed");
}

/// What may follow a statement: nothing but space, semicolons and comments.
bool is_blank(Database& database, std::string_view tail) {
  while (!tail.empty()) {
    sqlite3_stmt* prepared = nullptr;
    const char* rest = nullptr;
    const int code = sqlite3_prepare_v2(database.handle(), tail.data(),
                                        static_cast<int>(tail.size()), &prepared, &rest);
    const Statement second(database.handle(), prepared);
    if (code != SQLITE_OK || prepared != nullptr || rest == tail.data()) {
      return false;
    }
    tail.remove_prefix(static_cast<std::size_t>(rest - tail.data()));
  }
  return true;
}

/// Prepares one statement and refuses a second one behind it.
Result<Statement> prepare_single(Database& database, std::string_view sql,
                                 const QueryLimits& limits) {
  sqlite3_stmt* prepared = nullptr;
  const char* rest = nullptr;
  const int code = sqlite3_prepare_v2(database.handle(), sql.data(), static_cast<int>(sql.size()),
                                      &prepared, &rest);
  if (code != SQLITE_OK) {
    return tl::unexpected<Error>(query_error(database, code, limits));
  }
  Statement statement(database.handle(), prepared);
  const std::string_view tail = sql.substr(static_cast<std::size_t>(rest - sql.data()));
  if (prepared == nullptr || !is_blank(database, tail)) {
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
    if (code != SQLITE_ROW) {
      return tl::unexpected<Error>(query_error(database, code, limits));
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
  // Sorting and DISTINCT count against the memory limit instead of filling a disk.
  if (const Status in_memory = database->execute("PRAGMA temp_store=MEMORY"); !in_memory) {
    return in_memory;
  }
  std::int64_t deadline_ns = monotonic_now_ns() + limits.time_ns;
  sqlite3_progress_handler(database->handle(), kInstructionsPerCheck, out_of_time, &deadline_ns);
  sqlite3_set_authorizer(database->handle(), authorize, nullptr);
  sqlite3_limit(database->handle(), SQLITE_LIMIT_LIKE_PATTERN_LENGTH, kMaxPatternBytes);
  const std::int64_t old_limit = sqlite3_hard_heap_limit64(limits.memory_bytes);
  Result<Statement> statement = prepare_single(*database, sql, limits);
  const Status status = statement ? visit_rows(*database, *statement, limits, visitor)
                                  : Status(tl::unexpected<Error>(statement.error()));
  sqlite3_hard_heap_limit64(old_limit);
  return status;
}

}  // namespace gputrace::store
