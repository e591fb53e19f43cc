// SQLite behind two owners, Database and Statement, and the one mapping of its codes to Error.
#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "daemon/base/result.h"

struct sqlite3;
struct sqlite3_stmt;

namespace gputrace::store {

/// The only place where a SQLite code becomes an Error: "`what`: <message of the connection>".
[[nodiscard]] Error error_from_sqlite(sqlite3* connection, int code, std::string_view what);

/// A prepared statement. Belongs to its Database and must not outlive it. Binding errors are kept
/// and returned by the next step().
class Statement {
 public:
  Statement(sqlite3* connection, sqlite3_stmt* statement);

  Statement& bind(int index, std::int64_t value);
  Statement& bind(int index, double value);
  Statement& bind(int index, std::string_view value);
  Statement& bind_blob(int index, std::span<const std::byte> value);
  Statement& bind_null(int index);
  template <class T>
  Statement& bind_optional(int index, const std::optional<T>& value) {
    if (!value) {
      return bind_null(index);
    }
    if constexpr (std::is_convertible_v<T, std::string_view>) {
      return bind(index, std::string_view(*value));
    } else if constexpr (std::is_floating_point_v<T>) {
      return bind(index, static_cast<double>(*value));
    } else {
      return bind(index, static_cast<std::int64_t>(*value));
    }
  }

  /// True: a row is there. False: done, and reset for the next use.
  Result<bool> step();
  /// step() for statements without rows.
  Status run();
  /// Forgets the rows not yet fetched.
  void reset();

  [[nodiscard]] bool is_null(int column) const;
  [[nodiscard]] std::int64_t integer(int column) const;
  [[nodiscard]] std::optional<std::int64_t> optional_integer(int column) const;
  [[nodiscard]] double real(int column) const;
  [[nodiscard]] std::string text(int column) const;
  /// Valid until the next step().
  [[nodiscard]] std::span<const std::byte> blob(int column) const;
  [[nodiscard]] sqlite3_stmt* handle() const { return statement_.get(); }

 private:
  struct Finalizer {
    void operator()(sqlite3_stmt* statement) const noexcept;
  };
  sqlite3* connection_;
  std::unique_ptr<sqlite3_stmt, Finalizer> statement_;
  int bind_error_ = 0;
};

class Database {
 public:
  enum class Mode {
    kReadOnly,
    kReadWrite,  ///< the file exists
    kImmutable,  ///< read-only without any lock: nobody may be writing
    kMemory,     ///< `path` is not used
  };
  /// Never follows a symlink in the last component. Defensive, untrusted schema, no extensions.
  static Result<Database> open(const std::filesystem::path& path, Mode mode);

  Status execute(std::string_view sql);
  Result<Statement> prepare(std::string_view sql);
  /// First column of the first row of a query that must have one.
  Result<std::string> scalar_text(std::string_view sql);
  [[nodiscard]] bool in_transaction() const;
  [[nodiscard]] sqlite3* handle() const { return connection_.get(); }

 private:
  struct Closer {
    void operator()(sqlite3* connection) const noexcept;
  };
  explicit Database(sqlite3* connection) : connection_(connection) {}

  std::unique_ptr<sqlite3, Closer> connection_;
};

/// Hands every row of a query to `visit`; its first error ends it.
Status for_each_row(Statement& query, const std::function<Status(const Statement&)>& visit);
Status for_each_row(Database& database, std::string_view sql,
                    const std::function<Status(const Statement&)>& visit);

}  // namespace gputrace::store
