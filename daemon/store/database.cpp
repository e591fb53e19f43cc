#include "daemon/store/database.h"

#include <fmt/format.h>
#include <sqlite3.h>

#include <cerrno>
#include <climits>

namespace gputrace::store {

namespace {

// Largest value and statement that a file may make us handle; blobs of one second stay far below.
constexpr int kMaxValueBytes = 64 << 20;
constexpr int kMaxSqlBytes = 1 << 20;

ErrorCode code_from_sqlite(int code, int system_errno) {
  switch (code & 0xff) {
    case SQLITE_FULL:
      return ErrorCode::kNoSpace;
    case SQLITE_BUSY:
    case SQLITE_LOCKED:
      return ErrorCode::kBusy;
    case SQLITE_PERM:
    case SQLITE_READONLY:
    case SQLITE_AUTH:
      return ErrorCode::kPermissionDenied;
    case SQLITE_CORRUPT:
    case SQLITE_NOTADB:
    case SQLITE_FORMAT:
      return ErrorCode::kCorrupt;
    case SQLITE_ERROR:
    case SQLITE_RANGE:
    case SQLITE_MISMATCH:
    case SQLITE_CONSTRAINT:
      return ErrorCode::kInvalidArgument;
    case SQLITE_TOOBIG:
    case SQLITE_NOLFS:
      return ErrorCode::kUnsupported;
    case SQLITE_CANTOPEN:
    case SQLITE_IOERR:
      // A file size limit and a quota are EFBIG and EDQUOT to SQLite, not SQLITE_FULL.
      return system_errno != 0 ? error_from_errno(system_errno, "").code : ErrorCode::kIo;
    default:
      return ErrorCode::kIo;
  }
}

/// sqlite3_system_errno() knows failed openings; a failed write is remembered by the file it went
/// to, which is the write-ahead log or the journal.
int last_errno(sqlite3* connection, int code) {
  int error_number = sqlite3_system_errno(connection);
  if (error_number != 0 || (code & 0xff) != SQLITE_IOERR) {
    return error_number;
  }
  sqlite3_file* journal = nullptr;
  sqlite3_file_control(connection, "main", SQLITE_FCNTL_JOURNAL_POINTER,
                       static_cast<void*>(&journal));
  if (journal != nullptr && journal->pMethods != nullptr) {
    journal->pMethods->xFileControl(journal, SQLITE_FCNTL_LAST_ERRNO, &error_number);
  }
  if (error_number == 0) {
    sqlite3_file_control(connection, "main", SQLITE_FCNTL_LAST_ERRNO, &error_number);
  }
  return error_number;
}

std::string percent_encoded(const std::string& path) {
  std::string uri;
  for (const char c : path) {
    const auto byte = static_cast<unsigned char>(c);
    if (byte <= ' ' || byte >= 0x7f || c == '%' || c == '?' || c == '#') {
      uri += fmt::format("%{:02x}", byte);
    } else {
      uri += c;
    }
  }
  return uri;
}

void make_defensive(sqlite3* connection) {
  sqlite3_db_config(connection, SQLITE_DBCONFIG_DEFENSIVE, 1, nullptr);
  sqlite3_db_config(connection, SQLITE_DBCONFIG_TRUSTED_SCHEMA, 0, nullptr);
  sqlite3_db_config(connection, SQLITE_DBCONFIG_ENABLE_LOAD_EXTENSION, 0, nullptr);
  sqlite3_db_config(connection, SQLITE_DBCONFIG_ENABLE_TRIGGER, 0, nullptr);
  sqlite3_limit(connection, SQLITE_LIMIT_LENGTH, kMaxValueBytes);
  sqlite3_limit(connection, SQLITE_LIMIT_SQL_LENGTH, kMaxSqlBytes);
  sqlite3_limit(connection, SQLITE_LIMIT_ATTACHED, 0);
}

}  // namespace

Error error_from_sqlite(sqlite3* connection, int code, std::string_view what) {
  const int system_errno = connection != nullptr ? last_errno(connection, code) : 0;
  const char* text = connection != nullptr ? sqlite3_errmsg(connection) : sqlite3_errstr(code);
  std::string message = fmt::format("{}: {}", what, text);
  const int primary = code & 0xff;
  if (system_errno != 0 && (primary == SQLITE_IOERR || primary == SQLITE_CANTOPEN)) {
    message = error_from_errno(system_errno, message).message;
  }
  return {code_from_sqlite(code, system_errno), std::move(message)};
}

Statement::Statement(sqlite3* connection, sqlite3_stmt* statement)
    : connection_(connection), statement_(statement) {}

void Statement::Finalizer::operator()(sqlite3_stmt* statement) const noexcept {
  sqlite3_finalize(statement);
}

Statement& Statement::bind(int index, std::int64_t value) {
  bind_error_ |= sqlite3_bind_int64(handle(), index, value);
  return *this;
}

Statement& Statement::bind(int index, double value) {
  bind_error_ |= sqlite3_bind_double(handle(), index, value);
  return *this;
}

Statement& Statement::bind(int index, std::string_view value) {
  // A null pointer would bind NULL; an empty string is a value.
  bind_error_ |= sqlite3_bind_text64(handle(), index, value.data() != nullptr ? value.data() : "",
                                     value.size(), SQLITE_TRANSIENT, SQLITE_UTF8);
  return *this;
}

Statement& Statement::bind_blob(int index, std::span<const std::byte> value) {
  bind_error_ |= sqlite3_bind_blob64(handle(), index, value.data(), value.size(), SQLITE_TRANSIENT);
  return *this;
}

Statement& Statement::bind_null(int index) {
  bind_error_ |= sqlite3_bind_null(handle(), index);
  return *this;
}

Result<bool> Statement::step() {
  if (bind_error_ != 0) {
    return fail(ErrorCode::kInvalidArgument,
                fmt::format("a value cannot be bound to: {}", sqlite3_sql(handle())));
  }
  const int code = sqlite3_step(handle());
  if (code == SQLITE_ROW) {
    return true;
  }
  if (code == SQLITE_DONE) {
    sqlite3_reset(handle());
    return false;
  }
  Error error = error_from_sqlite(connection_, code, "SQLite");
  sqlite3_reset(handle());
  return tl::unexpected<Error>(std::move(error));
}

Status Statement::run() {
  const Result<bool> row = step();
  if (!row) {
    return tl::unexpected<Error>(row.error());
  }
  reset();
  return {};
}

void Statement::reset() {
  sqlite3_reset(handle());
}

bool Statement::is_null(int column) const {
  return sqlite3_column_type(handle(), column) == SQLITE_NULL;
}

std::int64_t Statement::integer(int column) const {
  return sqlite3_column_int64(handle(), column);
}

std::optional<std::int64_t> Statement::optional_integer(int column) const {
  return is_null(column) ? std::nullopt : std::optional(integer(column));
}

double Statement::real(int column) const {
  return sqlite3_column_double(handle(), column);
}

std::string Statement::text(int column) const {
  const void* data = sqlite3_column_blob(handle(), column);
  const auto size = static_cast<std::size_t>(sqlite3_column_bytes(handle(), column));
  return data == nullptr ? std::string() : std::string(static_cast<const char*>(data), size);
}

std::span<const std::byte> Statement::blob(int column) const {
  const void* data = sqlite3_column_blob(handle(), column);
  const auto size = static_cast<std::size_t>(sqlite3_column_bytes(handle(), column));
  return {static_cast<const std::byte*>(data), data == nullptr ? 0 : size};
}

void Database::Closer::operator()(sqlite3* connection) const noexcept {
  sqlite3_close_v2(connection);
}

Result<Database> Database::open(const std::filesystem::path& path, Mode mode) {
  int flags = SQLITE_OPEN_NOMUTEX | SQLITE_OPEN_NOFOLLOW | SQLITE_OPEN_EXRESCODE;
  std::string name = path.string();
  if (mode == Mode::kMemory) {
    flags |= SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE | SQLITE_OPEN_MEMORY;
    name = ":memory:";
  } else if (mode == Mode::kReadWrite) {
    flags |= SQLITE_OPEN_READWRITE;
  } else {
    flags |= SQLITE_OPEN_READONLY;
  }
  if (mode == Mode::kImmutable) {
    flags |= SQLITE_OPEN_URI;
    name = "file:" + percent_encoded(name) + "?immutable=1";
  }
  sqlite3* connection = nullptr;
  const int code = sqlite3_open_v2(name.c_str(), &connection, flags, nullptr);
  if (code != SQLITE_OK) {
    Error error = error_from_sqlite(connection, code, "cannot open " + path.string());
    sqlite3_close_v2(connection);
    return tl::unexpected<Error>(std::move(error));
  }
  make_defensive(connection);
  return Database(connection);
}

Status Database::execute(std::string_view sql) {
  const int code = sqlite3_exec(handle(), std::string(sql).c_str(), nullptr, nullptr, nullptr);
  if (code != SQLITE_OK) {
    return tl::unexpected<Error>(error_from_sqlite(handle(), code, "SQLite"));
  }
  return {};
}

Result<Statement> Database::prepare(std::string_view sql) {
  GPUTRACE_CHECK(sql.size() <= INT_MAX);
  sqlite3_stmt* statement = nullptr;
  const int code =
      sqlite3_prepare_v2(handle(), sql.data(), static_cast<int>(sql.size()), &statement, nullptr);
  if (code != SQLITE_OK) {
    return tl::unexpected<Error>(error_from_sqlite(handle(), code, "SQLite"));
  }
  return Statement(handle(), statement);
}

Result<std::string> Database::scalar_text(std::string_view sql) {
  Result<Statement> statement = prepare(sql);
  if (!statement) {
    return tl::unexpected<Error>(statement.error());
  }
  const Result<bool> row = statement->step();
  if (!row) {
    return tl::unexpected<Error>(row.error());
  }
  if (!*row) {
    return fail(ErrorCode::kCorrupt, fmt::format("no answer to: {}", sql));
  }
  return statement->text(0);
}

bool Database::in_transaction() const {
  return sqlite3_get_autocommit(handle()) == 0;
}

Status for_each_row(Statement& query, const std::function<Status(const Statement&)>& visit) {
  for (;;) {
    const Result<bool> row = query.step();
    if (!row) {
      return tl::unexpected<Error>(row.error());
    }
    if (!*row) {
      return {};
    }
    if (Status status = visit(query); !status) {
      return status;
    }
  }
}

Status for_each_row(Database& database, std::string_view sql,
                    const std::function<Status(const Statement&)>& visit) {
  Result<Statement> query = database.prepare(sql);
  return query ? for_each_row(*query, visit) : Status(tl::unexpected<Error>(query.error()));
}

}  // namespace gputrace::store
