// Rows of results that nobody would store.
#include <doctest/doctest.h>

#include <array>

#include "daemon/store/results.h"
#include "daemon/store/session_reader.h"
#include "tests/support/change_database.h"
#include "tests/support/make_results.h"
#include "tests/support/temp_dir.h"

namespace gputrace::store {
namespace {

TEST_CASE("rows of results with impossible values are errors, not crashes or gigabytes") {
  const test::TempDir dir;
  const auto file = dir.path() / "bench.gputrace";
  const std::array runs{test::full_run(), test::bare_run()};
  SessionDescription description;
  description.kind = SessionKind::kBench;
  REQUIRE(create_result_file(file, OnExisting::kRefuse, description, {}, runs));
  std::string sql;
  SUBCASE("a status that nobody knows") {
    sql = "UPDATE bench_points SET status = 'party' WHERE id = 2";
  }
  SUBCASE("a proof that nobody knows") {
    sql = "UPDATE bench_tests SET isa_proof = '' WHERE id = 1";
  }
  SUBCASE("a test without a run") {
    sql = "UPDATE bench_tests SET run = 77 WHERE id = 2";
  }
  SUBCASE("a point without a test") {
    sql = "UPDATE bench_points SET test = 77 WHERE id = 2";
  }
  SUBCASE("a count without a test") {
    sql = "UPDATE bench_counts SET test = 77";
  }
  SUBCASE("an infinite median") {
    sql = "UPDATE bench_points SET median = 9e999";
  }
  SUBCASE("an infinite count of the code") {
    sql = "UPDATE bench_counts SET isa = -9e999";
  }
  SUBCASE("an infinite derived value") {
    sql = "UPDATE bench_values SET upper = 9e999 WHERE id = 1";
  }
  SUBCASE("fewer than no samples") {
    sql = "UPDATE bench_points SET samples = -1";
  }
  SUBCASE("more samples than there can be") {
    sql = "UPDATE bench_points SET samples = 9223372036854775807";
  }
  SUBCASE("a flag that is none") {
    sql = "UPDATE bench_runs SET simulated = 2";
  }
  SUBCASE("a time before all time") {
    sql = "UPDATE bench_tests SET start_ns = -9223372036854775807";
  }
  SUBCASE("a device name of a megabyte") {
    sql = "UPDATE bench_runs SET device = printf('%1000000d', 1)";
  }
  SUBCASE("subgroup sizes of words") {
    sql = "UPDATE bench_runs SET subgroup_sizes = '[a]'";
  }
  SUBCASE("subgroup sizes without brackets") {
    sql = "UPDATE bench_runs SET subgroup_sizes = ''";
  }
  SUBCASE("a thousand subgroup sizes") {
    sql = "UPDATE bench_runs SET subgroup_sizes = replace(printf('[%1000d]', 1), ' ', '1,')";
  }
  SUBCASE("a negative device id") {
    sql = "UPDATE bench_runs SET device_id = -1 WHERE id = 1";
  }
  SUBCASE("20 000 runs") {
    sql =
        "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 20000) "
        "INSERT INTO bench_runs SELECT i + 10, '', '', NULL, NULL, NULL, NULL, '', '', '[]', 0, 0, "
        "0, NULL, NULL, NULL FROM n";
  }
  SUBCASE("20 000 tests") {
    sql =
        "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 20000) "
        "INSERT INTO bench_tests SELECT i + 10, 1, '', 'ok', '', '', '', '', 'passed', 'passed', "
        "'passed', NULL, NULL FROM n";
  }
  test::change_database(file, sql);
  const Result<SessionReader> reader = SessionReader::open(file);
  REQUIRE(reader);  // what else is in the file can still be read
  const auto read = reader->results();
  REQUIRE_FALSE(read);
  CHECK(read.error().code == ErrorCode::kCorrupt);
  CHECK(read.error().message.find("bench.gputrace") != std::string::npos);
}

}  // namespace
}  // namespace gputrace::store
