// A recording of the time when files had format version 2.
#include <doctest/doctest.h>

#include <filesystem>

#include "daemon/store/query.h"
#include "daemon/store/session_reader.h"
#include "tests/support/change_database.h"
#include "tests/support/error_text.h"
#include "tests/support/temp_dir.h"

namespace gputrace::store {
namespace {

using std::filesystem::path;

path copy_of_old(const test::TempDir& dir) {
  path file = dir.path() / "old.gputrace";
  std::filesystem::copy_file(path(GPUTRACE_FIXTURES) / "sessions/version_2.gputrace", file);
  std::filesystem::permissions(file, std::filesystem::perms::owner_write,
                               std::filesystem::perm_options::add);
  return file;
}

TEST_CASE("a file of version 2 is read as it is: sensors, clients and frames, and no results") {
  const test::TempDir dir;
  const path file = copy_of_old(dir);
  const auto size = std::filesystem::file_size(file);
  const Result<SessionReader> reader = SessionReader::open(file);
  REQUIRE_MESSAGE(reader, test::error_text(reader));
  CHECK(reader->description().label == "old");
  REQUIRE(reader->segments().size() == 1);
  CHECK(reader->segments()[0].totals.ticks == 60);
  const auto sources = reader->sensor_sources();
  REQUIRE(sources);
  REQUIRE(sources->size() == 1);
  const auto readings = reader->sensor_runs(sources->front().series.at(0), std::nullopt);
  REQUIRE(readings);
  REQUIRE(readings->size() == 2);
  CHECK(readings->at(1).value == 28);
  CHECK(reader->frames(std::nullopt).value().size() == 1);
  std::size_t clients = 0;
  CHECK(reader->for_each_client_usage([&](const ClientUsage& usage) {
    CHECK(usage.process == "game");
    ++clients;
    return Status{};
  }));
  CHECK(clients == 1);
  CHECK(reader->results().value().empty());
  std::string version;
  REQUIRE(query_session(file, "PRAGMA user_version", {},
                        {[](std::span<const std::string>) {},
                         [&](std::span<const QueryValue> row) -> Status {
                           version = std::to_string(std::get<std::int64_t>(row[0]));
                           return {};
                         }}));
  CHECK(version == "2");
  CHECK(std::filesystem::file_size(file) == size);
}

TEST_CASE("a file that states version 3 without its tables is refused, and the reverse") {
  const test::TempDir dir;
  const path file = copy_of_old(dir);
  SUBCASE("version 3 without its tables") {
    test::change_database(file, "PRAGMA user_version = 3");
  }
  SUBCASE("version 2 with a table more") {
    test::change_database(file,
                          "CREATE TABLE bench_counts (id INTEGER PRIMARY KEY, test INTEGER NOT "
                          "NULL) STRICT");
  }
  const Result<SessionReader> reader = SessionReader::open(file);
  REQUIRE_FALSE(reader);
  CHECK(reader.error().code == ErrorCode::kCorrupt);
  CHECK(reader.error().message.find("tables are not those") != std::string::npos);
}

}  // namespace
}  // namespace gputrace::store
