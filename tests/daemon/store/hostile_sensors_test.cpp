// Rows of sensors, clients and frames that no recorder would write.
#include <doctest/doctest.h>

#include "daemon/store/session_reader.h"
#include "daemon/store/session_writer.h"
#include "tests/support/change_database.h"
#include "tests/support/temp_dir.h"

namespace gputrace::store {
namespace {

using std::filesystem::path;
using test::change_database;

constexpr std::int64_t kStart = 1'000 * kNsPerSecond;

path make(const test::TempDir& dir) {
  path file = dir.path() / "a.gputrace";
  Result<SessionWriter> writer = SessionWriter::create(file, OnExisting::kRefuse, {});
  REQUIRE(writer);
  const SensorSource source{
      .name = "gpu_metrics",
      .gpu_pci = std::nullopt,
      .sensors = {{"package_power", "", "", "W", sampler::SensorKind::kGauge, "", ""},
                  {"throttle_status", "", "", "bits", sampler::SensorKind::kBits, "", ""}}};
  const auto defined = writer->define_sensor_source(source);
  REQUIRE(defined);
  ClientUsage usage;
  usage.pid = 1;
  usage.pdev = "0000:c4:00.0";
  for (std::int64_t i = 0; i < 100; ++i) {
    const std::int64_t now = kStart + i * 100 * kNsPerMs;
    for (const std::int64_t series : defined->series) {
      REQUIRE(writer->write_sensor_run(
          series, {.start_ns = now, .end_ns = now + 5, .readings = 2, .value = 40}));
    }
    usage.time_ns = now;
    usage.engine_ns["gfx"] = static_cast<std::uint64_t>(i);
    usage.vram_bytes = static_cast<std::uint64_t>(i) << 20U;
    REQUIRE(writer->write_client_usage(usage));
    const Frame frame{.end_ns = now, .duration_ns = 16'000'000};
    REQUIRE(writer->write_frames(std::span(&frame, 1)));
  }
  REQUIRE(writer->finish({}));
  return file;
}

/// Opens and reads everything; the first error, if any.
Status read_all(const path& file) {
  const Result<SessionReader> reader = SessionReader::open(file);
  if (!reader) {
    return tl::unexpected<Error>(reader.error());
  }
  Status status = reader->for_each_sensor_run(
      std::nullopt, [](std::int64_t, const SensorRun&) { return Status{}; });
  if (status) {
    status = reader->for_each_client_usage([](const ClientUsage&) { return Status{}; });
  }
  const auto frames = reader->frames(std::nullopt);
  return status && !frames ? tl::unexpected<Error>(frames.error()) : status;
}

TEST_CASE("rows of sensors with impossible values are errors, not crashes or gigabytes") {
  const test::TempDir dir;
  const path file = make(dir);
  REQUIRE(read_all(file));
  std::string sql;
  SUBCASE("a kind that nobody knows") {
    sql = "UPDATE sensors SET kind = 'party' WHERE id = 2";
  }
  SUBCASE("a sensor without a source") {
    sql = "UPDATE sensors SET source = 7 WHERE id = 2";
  }
  SUBCASE("a label of a megabyte") {
    sql = "UPDATE sensors SET label = printf('%1000000d', 1)";
  }
  SUBCASE("a problem of a megabyte") {
    sql = "UPDATE sensor_sources SET problem = printf('%1000000d', 1)";
  }
  SUBCASE("a negative count of reads") {
    sql = "UPDATE sensor_sources SET late = -1";
  }
  SUBCASE("an infinite rate") {
    sql = "UPDATE sensor_sources SET rate_hz = 9e999";
  }
  SUBCASE("200 000 sensors") {
    sql =
        "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 200000) "
        "INSERT INTO sensors (source, name, origin, label, unit, kind, covers, decision) "
        "SELECT 1, 'x', '', '', '', 'gauge', '', '' FROM n";
  }
  SUBCASE("20 000 sources") {
    sql =
        "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 20000) "
        "INSERT INTO sensor_sources (name, reads, rejected, failed, late, cost_ns, worst_ns, "
        "rate_hz, problem) SELECT 'x', 0, 0, 0, 0, 0, 0, 1, '' FROM n";
  }
  SUBCASE("an infinite value") {
    sql = "UPDATE sensor_runs SET value = 9e999 WHERE id = 50";
  }
  SUBCASE("bits that are none") {
    sql = "UPDATE sensor_runs SET value = 1e300 WHERE series = 2 AND id > 50";
  }
  SUBCASE("a run before the one before") {
    sql = "UPDATE sensor_runs SET start_ns = start_ns - 1000000000 WHERE id = 50";
  }
  SUBCASE("a run of a negative length") {
    sql = "UPDATE sensor_runs SET span_ns = -1 WHERE id = 50";
  }
  SUBCASE("a run that ends after all time") {
    sql = "UPDATE sensor_runs SET span_ns = 9223372036854775807 WHERE id = 200";
  }
  SUBCASE("a run at a negative time") {
    sql = "UPDATE sensor_runs SET start_ns = -9223372036854775807 WHERE id = 1";
  }
  SUBCASE("no readings") {
    sql = "UPDATE sensor_runs SET readings = 0 WHERE id = 50";
  }
  SUBCASE("more readings than there can be") {
    sql = "UPDATE sensor_runs SET readings = 9223372036854775807 WHERE id = 50";
  }
  SUBCASE("a run of a series that is not described") {
    sql = "UPDATE sensor_runs SET series = 77 WHERE id = 50";
  }
  change_database(file, sql);
  const Status status = read_all(file);
  REQUIRE_FALSE(status);
  CHECK(status.error().code == ErrorCode::kCorrupt);
  CHECK(status.error().message.find("a.gputrace") != std::string::npos);
}

TEST_CASE("rows of clients and frames with impossible values are errors") {
  const test::TempDir dir;
  const path file = make(dir);
  std::string sql;
  SUBCASE("a client of usage that is not described") {
    sql = "UPDATE client_usage SET client = 9 WHERE id = 50";
  }
  SUBCASE("a client of an engine that is not described") {
    sql = "UPDATE client_engines SET client = 9 WHERE id = 50";
  }
  SUBCASE("a process name of a megabyte") {
    sql = "UPDATE drm_clients SET process = printf('%1000000d', 1)";
  }
  SUBCASE("an engine name of a megabyte") {
    sql = "UPDATE client_engines SET engine = printf('%1000000d', 1)";
  }
  SUBCASE("an engine for each row") {
    sql = "UPDATE client_engines SET engine = 'e' || id";
  }
  SUBCASE("200 000 clients") {
    sql =
        "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 200000) "
        "INSERT INTO drm_clients (pid, process, pdev, client_id) SELECT 1, 'x', '', i FROM n";
  }
  SUBCASE("usage that goes back in time") {
    sql = "UPDATE client_usage SET time_ns = 5 WHERE id = 50";
  }
  SUBCASE("engines that go back in time") {
    sql = "UPDATE client_engines SET time_ns = 5 WHERE id = 50";
  }
  SUBCASE("usage at a negative time") {
    sql = "UPDATE client_usage SET time_ns = -1 WHERE id = 1";
  }
  SUBCASE("less than no memory") {
    sql = "UPDATE client_usage SET gtt_bytes = -1 WHERE id = 50";
  }
  SUBCASE("a negative time of an engine") {
    sql = "UPDATE client_engines SET busy_ns = -1 WHERE id = 50";
  }
  SUBCASE("a frame that goes back in time") {
    sql = "UPDATE frames SET end_ns = 5 WHERE id = 50";
  }
  SUBCASE("a frame of a negative duration") {
    sql = "UPDATE frames SET duration_ns = -1 WHERE id = 50";
  }
  change_database(file, sql);
  const Status status = read_all(file);
  REQUIRE_FALSE(status);
  CHECK(status.error().code == ErrorCode::kCorrupt);
  CHECK(status.error().message.find("a.gputrace") != std::string::npos);
}

TEST_CASE("a frame longer than all time before it is cut at the beginning of time") {
  const test::TempDir dir;
  const path file = make(dir);
  change_database(file, "UPDATE frames SET duration_ns = 9223372036854775807");
  const Result<SessionReader> reader = SessionReader::open(file);
  REQUIRE(reader);
  REQUIRE(reader->span());
  CHECK(reader->span()->start_ns == 0);
}

}  // namespace
}  // namespace gputrace::store
