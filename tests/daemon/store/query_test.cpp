// What `gputrace sql` may ask of a session file, and what it may not.
#include "daemon/store/query.h"

#include <doctest/doctest.h>

#include <filesystem>
#include <string>
#include <vector>

#include "tests/support/make_session.h"
#include "tests/support/temp_dir.h"

namespace gputrace::store {
namespace {

struct Asked {
  Status status;
  std::vector<std::vector<QueryValue>> rows;
};

class Session {
 public:
  Session() {
    test::SessionRecipe recipe;
    recipe.seconds = 5;
    REQUIRE(test::make_session(file_, recipe));
  }
  [[nodiscard]] Asked ask(const std::string& sql, const QueryLimits& limits = {}) const {
    Asked asked;
    asked.status = query_session(file_, sql, limits,
                                 {[](std::span<const std::string>) {},
                                  [&](std::span<const QueryValue> row) -> Status {
                                    asked.rows.emplace_back(row.begin(), row.end());
                                    return {};
                                  }});
    return asked;
  }
  [[nodiscard]] Error error_of(const std::string& sql, const QueryLimits& limits = {}) const {
    const Asked asked = ask(sql, limits);
    REQUIRE_FALSE(asked.status);
    return asked.status.error();
  }
  [[nodiscard]] std::filesystem::path folder() const { return dir_.path(); }

 private:
  test::TempDir dir_;
  std::filesystem::path file_ = dir_.path() / "a.gputrace";
};

TEST_CASE("a query reads tables, views and what describes them") {
  const Session session;
  CHECK(session.ask("SELECT * FROM busy").rows.size() > 50);
  for (const std::string& sql : std::vector<std::string>{
           "SELECT name FROM sqlite_schema LIMIT 1", "PRAGMA table_info(blocks)",
           "PRAGMA user_version", "EXPLAIN SELECT 1", "SELECT 1;", "SELECT 1 ; -- and a comment",
           "SELECT 1; /* so */ ;"}) {
    CAPTURE(sql);
    const Asked asked = session.ask(sql);
    CHECK_MESSAGE(asked.status, (asked.status ? "" : asked.status.error().message));
    CHECK_FALSE(asked.rows.empty());
  }
}

TEST_CASE("a query that would write or reach beyond the file is refused") {
  const Session session;
  const std::string copy = (session.folder() / "copy").string();
  for (const std::string& sql :
       {std::string("DELETE FROM blocks"), std::string("CREATE TABLE t(x)"),
        std::string("CREATE TEMP TABLE t(x)"), std::string("BEGIN IMMEDIATE"),
        std::string("ATTACH '/etc/passwd' AS x"), "ATTACH '" + copy + "' AS x",
        "VACUUM INTO '" + copy + "'", std::string("PRAGMA journal_mode=WAL"),
        std::string("PRAGMA user_version=9"), std::string("PRAGMA query_only=OFF"),
        std::string("PRAGMA trusted_schema=ON"), std::string("SELECT * FROM pragma_journal_mode"),
        std::string("SELECT * FROM pragma_database_list"),
        std::string("SELECT load_extension('x')"),
        std::string("SELECT fts3_tokenizer('simple')")}) {
    const Error error = session.error_of(sql);
    CAPTURE(sql);
    CAPTURE(error.message);
    CHECK(error.code == ErrorCode::kInvalidArgument);
    const bool vacuum = sql.rfind("VACUUM", 0) == 0;  // refused by the transaction before us
    CHECK((vacuum || error.message.find("may only SELECT") != std::string::npos));
  }
  CHECK_FALSE(std::filesystem::exists(copy));
}

TEST_CASE("a query that is wrong, none or two is refused with the reason") {
  const Session session;
  CHECK(session.error_of("SELEKT").message.find("syntax error") != std::string::npos);
  CHECK(session.error_of("SELECT * FROM missing_table").message.find("no such table") !=
        std::string::npos);
  CHECK(session.error_of("").message == "the query is empty");
  CHECK(session.error_of("-- only a comment").message == "the query is empty");
  CHECK(session.error_of("SELECT 1; SELECT 2").message.find("one query at a time") !=
        std::string::npos);
  CHECK(session.error_of("SELECT 1; SELEKT").message.find("one query at a time") !=
        std::string::npos);
}

TEST_CASE("a query has a limit of time, of memory and of the size of a value") {
  const Session session;
  const std::string endless = "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n) ";
  const Error slow = session.error_of(endless + "SELECT max(i) FROM n", {.time_ns = 20 * kNsPerMs});
  CHECK(slow.code == ErrorCode::kBusy);
  CHECK(slow.message == "the query was stopped after 0.02 s; --timeout allows more");
  const Error big = session.error_of(
      endless + "SELECT count(*) FROM (SELECT DISTINCT hex(randomblob(500)) FROM n)",
      {.memory_bytes = 20 << 20});
  CAPTURE(big.message);
  CHECK(big.code == ErrorCode::kUnsupported);
  CHECK(session.error_of("SELECT zeroblob(1000000000)").code == ErrorCode::kUnsupported);
  CHECK_FALSE(session.ask("SELECT 'x' LIKE hex(zeroblob(30000))").status);
  CHECK(session.ask("SELECT 1").status);  // the limits ended with their query
}

TEST_CASE("a query on a file that is no session is refused as opening it is") {
  const Status status = query_session("/nonexistent/a.gputrace", "SELECT 1", {}, {});
  REQUIRE_FALSE(status);
  CHECK(status.error().code == ErrorCode::kNotFound);
}

}  // namespace
}  // namespace gputrace::store
