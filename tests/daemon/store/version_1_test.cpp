// A recording that gputrace made when its files had format version 1.
#include <doctest/doctest.h>
#include <sqlite3.h>

#include <filesystem>

#include "daemon/store/query.h"
#include "daemon/store/session_file.h"
#include "daemon/store/session_reader.h"
#include "tests/support/change_database.h"
#include "tests/support/temp_dir.h"

namespace gputrace::store {
namespace {

using std::filesystem::path;

path copy_of_old(const test::TempDir& dir) {
  path file = dir.path() / "old.gputrace";
  std::filesystem::copy_file(path(GPUTRACE_FIXTURES) / "sessions/version_1.gputrace", file);
  std::filesystem::permissions(file, std::filesystem::perms::owner_write,
                               std::filesystem::perm_options::add);
  return file;
}

SessionReader open(const path& file) {
  Result<SessionReader> reader = SessionReader::open(file);
  REQUIRE_MESSAGE(reader, (reader ? "" : reader.error().message));
  return std::move(*reader);
}

std::string user_version(const path& file) {
  std::string version;
  REQUIRE(query_session(file, "PRAGMA user_version", {},
                        {[](std::span<const std::string>) {},
                         [&](std::span<const QueryValue> row) -> Status {
                           version = std::to_string(std::get<std::int64_t>(row[0]));
                           return {};
                         }}));
  return version;
}

void check_content(const SessionReader& reader) {
  REQUIRE(reader.segments().size() == 1);
  std::size_t ticks = 0;
  REQUIRE(reader.for_each_block(reader.segments()[0], std::nullopt,
                                [&](const sampler::SampleBlock& block) -> Status {
                                  ticks += block.size;
                                  return {};
                                }));
  CHECK(ticks == 60);
  CHECK(reader.description().label == "old");
  // What its version has no tables for is absent, not an error.
  CHECK(reader.sensor_sources().value().empty());
  CHECK(reader.sensor_runs(1, std::nullopt).value().empty());
  CHECK(reader.frames(std::nullopt).value().empty());
  std::size_t visits = 0;
  CHECK(reader.for_each_sensor_run(std::nullopt, [&](std::int64_t, const SensorRun&) {
    ++visits;
    return Status{};
  }));
  CHECK(reader.for_each_client_usage([&](const ClientUsage&) {
    ++visits;
    return Status{};
  }));
  CHECK(visits == 0);
}

TEST_CASE("a file of version 1 is read as it is and stays of version 1") {
  const test::TempDir dir;
  const path file = copy_of_old(dir);
  const auto size = std::filesystem::file_size(file);
  const SessionReader reader = open(file);
  check_content(reader);
  CHECK(reader.end());
  CHECK(user_version(file) == "1");
  CHECK(std::filesystem::file_size(file) == size);
}

TEST_CASE("a cut file of version 1 is finished by its owner and stays of version 1") {
  const test::TempDir dir;
  const path file = copy_of_old(dir);
  const path cut = dir.path() / "cut.gputrace";
  sqlite3* connection = nullptr;
  REQUIRE(sqlite3_open(file.c_str(), &connection) == SQLITE_OK);
  REQUIRE(sqlite3_exec(connection, "PRAGMA journal_mode=WAL; UPDATE session SET end_ns = NULL",
                       nullptr, nullptr, nullptr) == SQLITE_OK);
  // As a crash leaves it: the file and its log, while the recorder had both open.
  std::filesystem::copy_file(file, cut);
  std::filesystem::copy_file(file.string() + "-wal", cut.string() + "-wal");
  sqlite3_close(connection);
  const SessionReader reader = open(cut);
  check_content(reader);
  CHECK_FALSE(reader.end());
  CHECK_FALSE(std::filesystem::exists(cut.string() + "-wal"));
  CHECK(user_version(cut) == "1");
}

TEST_CASE("a file that states version 1 with the tables of version 2 is refused, and the reverse") {
  const test::TempDir dir;
  const path file = copy_of_old(dir);
  SUBCASE("version 1 with a table more") {
    test::change_database(
        file,
        "CREATE TABLE frames (id INTEGER PRIMARY KEY, end_ns INTEGER NOT NULL, duration_ns "
        "INTEGER NOT NULL) STRICT");
  }
  SUBCASE("version 2 without its tables") {
    test::change_database(file, "PRAGMA user_version = 2");
  }
  const Result<SessionReader> reader = SessionReader::open(file);
  REQUIRE_FALSE(reader);
  CHECK(reader.error().code == ErrorCode::kCorrupt);
  CHECK(reader.error().message.find("tables are not those") != std::string::npos);
}

}  // namespace
}  // namespace gputrace::store
