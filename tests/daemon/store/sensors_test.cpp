// Sensors, DRM clients and frames: what is written comes back, and what makes no sense is refused.
#include <doctest/doctest.h>

#include <cmath>
#include <limits>
#include <map>

#include "daemon/store/query.h"
#include "daemon/store/session_reader.h"
#include "daemon/store/session_writer.h"
#include "tests/support/make_session.h"
#include "tests/support/temp_dir.h"

namespace gputrace::store {
namespace {

using sampler::SensorKind;

constexpr std::int64_t kStart = 1'000 * kNsPerSecond;

SensorSource power_source() {
  return {.name = "hwmon power1_average",
          .gpu_pci = "0000:c4:00.0",
          .sensors = {{.name = "package_power",
                       .source = "hwmon power1_average",
                       .label = "PPT",
                       .unit = "W",
                       .kind = SensorKind::kGauge,
                       .covers = "CPU and GPU together",
                       .decision = "uW, as it lies between 0 and the cap"},
                      {"throttle_status", "", "", "bits", SensorKind::kBits, "", ""}}};
}

SensorSource dram_source() {
  return {.name = "pmu amd_umc",
          .gpu_pci = std::nullopt,
          .sensors = {{"dram_read", "", "", "bytes", SensorKind::kCounter, "", ""}}};
}

SessionWriter writer_in(const test::TempDir& dir) {
  Result<SessionWriter> writer =
      SessionWriter::create(dir.path() / "a.gputrace", OnExisting::kRefuse, {});
  REQUIRE_MESSAGE(writer, (writer ? "" : writer.error().message));
  return std::move(*writer);
}

SessionReader finish_and_read(SessionWriter& writer) {
  REQUIRE(writer.finish({}));
  Result<SessionReader> reader = SessionReader::open(writer.path());
  REQUIRE_MESSAGE(reader, (reader ? "" : reader.error().message));
  return std::move(*reader);
}

SensorRun run(std::int64_t start_ms, std::int64_t end_ms, std::uint32_t readings, double value) {
  return {.start_ns = kStart + start_ms * kNsPerMs,
          .end_ns = kStart + end_ms * kNsPerMs,
          .readings = readings,
          .value = value};
}

std::vector<SensorRun> runs_of(const SessionReader& reader, std::int64_t series,
                               std::optional<TimeSpan> span = std::nullopt) {
  const Result<std::vector<SensorRun>> runs = reader.sensor_runs(series, span);
  REQUIRE_MESSAGE(runs, (runs ? "" : runs.error().message));
  return *runs;
}

void check_same(const SensorRun& a, const SensorRun& b) {
  CHECK(a.start_ns == b.start_ns);
  CHECK(a.end_ns == b.end_ns);
  CHECK(a.readings == b.readings);
  CHECK(a.value == b.value);
}

TEST_CASE("sources, series, totals and runs of sensors come back") {
  const test::TempDir dir;
  SessionWriter writer = writer_in(dir);
  const auto power = writer.define_sensor_source(power_source());
  const auto dram = writer.define_sensor_source(dram_source());
  REQUIRE(power);
  REQUIRE(dram);
  REQUIRE(power->series.size() == 2);
  REQUIRE(writer.write_sensor_run(power->series[0], run(0, 0, 1, 43.25)));
  REQUIRE(writer.write_sensor_run(dram->series[0], run(10, 10, 1, 9e15)));
  REQUIRE(writer.write_sensor_run(power->series[1], run(0, 900, 10, 4294967295.0)));
  REQUIRE(writer.write_sensor_run(power->series[0], run(100, 900, 9, 0)));
  const SensorSourceTotals totals{.reads = 10,
                                  .rejected = 1,
                                  .failed = 2,
                                  .late = 3,
                                  .cost_ns = 400'000,
                                  .worst_ns = 90'000,
                                  .rate_hz = 9.5,
                                  .problem = "cannot read: EIO"};
  REQUIRE(writer.write_sensor_totals(power->id, {.reads = 1, .rate_hz = 10, .problem = ""}));
  REQUIRE(writer.write_sensor_totals(power->id, totals));

  const SessionReader reader = finish_and_read(writer);
  const auto sources = reader.sensor_sources();
  REQUIRE(sources);
  REQUIRE(sources->size() == 2);
  const StoredSensorSource& first = sources->at(0);
  CHECK(first.id == power->id);
  CHECK(first.series == power->series);
  CHECK(first.source.name == "hwmon power1_average");
  CHECK(first.source.gpu_pci == "0000:c4:00.0");
  const sampler::SensorDescription& sensor = first.source.sensors.at(0);
  CHECK(sensor.name == "package_power");
  CHECK(sensor.source == "hwmon power1_average");
  CHECK(sensor.label == "PPT");
  CHECK(sensor.unit == "W");
  CHECK(sensor.kind == SensorKind::kGauge);
  CHECK(sensor.covers == "CPU and GPU together");
  CHECK(sensor.decision == "uW, as it lies between 0 and the cap");
  CHECK(first.source.sensors.at(1).kind == SensorKind::kBits);
  CHECK(first.totals.reads == 10);
  CHECK(first.totals.rejected == 1);
  CHECK(first.totals.failed == 2);
  CHECK(first.totals.late == 3);
  CHECK(first.totals.cost_ns == 400'000);
  CHECK(first.totals.worst_ns == 90'000);
  CHECK(first.totals.rate_hz == 9.5);
  CHECK(first.totals.problem == "cannot read: EIO");
  const StoredSensorSource& second = sources->at(1);
  CHECK_FALSE(second.source.gpu_pci);
  CHECK(second.source.sensors.at(0).kind == SensorKind::kCounter);
  CHECK(second.totals.reads == 0);

  const auto power_runs = runs_of(reader, power->series[0]);
  REQUIRE(power_runs.size() == 2);
  check_same(power_runs[0], run(0, 0, 1, 43.25));
  check_same(power_runs[1], run(100, 900, 9, 0));
  check_same(runs_of(reader, power->series[1]).at(0), run(0, 900, 10, 4294967295.0));
  check_same(runs_of(reader, dram->series[0]).at(0), run(10, 10, 1, 9e15));
  std::map<std::int64_t, std::size_t> walked;
  REQUIRE(reader.for_each_sensor_run(std::nullopt, [&](std::int64_t series, const SensorRun&) {
    ++walked[series];
    return Status{};
  }));
  CHECK(walked == std::map<std::int64_t, std::size_t>{
                      {power->series[0], 2}, {power->series[1], 1}, {dram->series[0], 1}});
  CHECK(runs_of(reader, 77).empty());
}

TEST_CASE("a run is cut where the span ends and its readings are shared out by time") {
  const test::TempDir dir;
  SessionWriter writer = writer_in(dir);
  const auto source = writer.define_sensor_source(power_source());
  REQUIRE(source);
  const std::int64_t series = source->series[0];
  REQUIRE(writer.write_sensor_run(series, run(0, 900, 10, 40)));
  REQUIRE(writer.write_sensor_run(series, run(1000, 1000, 1, 50)));
  const SessionReader reader = finish_and_read(writer);
  const auto part = [&](std::int64_t start_ms, std::int64_t end_ms) {
    return runs_of(reader, series,
                   TimeSpan{kStart + start_ms * kNsPerMs, kStart + end_ms * kNsPerMs});
  };
  SUBCASE("readings at 300, 400 and 500 ms lie inside") {
    REQUIRE(part(250, 550).size() == 1);
    check_same(part(250, 550)[0], run(250, 550, 3, 40));
  }
  SUBCASE("neighbouring parts have all readings between them") {
    std::uint32_t readings = 0;
    for (std::int64_t start = 0; start < 1000; start += 250) {
      readings += part(start, start + 250).at(0).readings;
    }
    CHECK(readings == 10);
  }
  SUBCASE("between two readings the value is still known") {
    REQUIRE(part(410, 420).size() == 1);
    check_same(part(410, 420)[0], run(410, 420, 1, 40));
  }
  SUBCASE("a reading at the start belongs to the span, one at the end to the next") {
    CHECK(part(950, 1000).empty());
    REQUIRE(part(1000, 1100).size() == 1);
    check_same(part(1000, 1100)[0], run(1000, 1000, 1, 50));
    check_same(part(0, 900).at(0), run(0, 900, 9, 40));
  }
  SUBCASE("nothing outside") {
    CHECK(part(1001, 5000).empty());
    CHECK(part(-900, 0).empty());
  }
}

TEST_CASE("readings that are no readings are refused and the session goes on") {
  const test::TempDir dir;
  SessionWriter writer = writer_in(dir);
  const auto source = writer.define_sensor_source(power_source());
  REQUIRE(source);
  const std::int64_t series = source->series[0];
  REQUIRE(writer.write_sensor_run(series, run(0, 900, 10, 40)));
  const auto refused = [&](std::int64_t of, const SensorRun& wrong) {
    const Status status = writer.write_sensor_run(of, wrong);
    REQUIRE_FALSE(status);
    CHECK(status.error().code == ErrorCode::kInvalidArgument);
  };
  refused(99, run(1000, 1000, 1, 40));
  refused(series, run(800, 1000, 2, 40));
  refused(series, run(1100, 1000, 2, 40));
  refused(series, run(1000, 1000, 0, 40));
  refused(series, run(1000, 1000, 1, std::nan("")));
  refused(series, run(1000, 1000, 1, std::numeric_limits<double>::infinity()));
  refused(source->series[1], run(1000, 1000, 1, 0.5));
  refused(source->series[1], run(1000, 1000, 1, 4294967296.0));
  SensorSource wordy = power_source();
  wordy.sensors[0].label = std::string(5000, 'x');
  CHECK(writer.define_sensor_source(wordy).error().code == ErrorCode::kInvalidArgument);
  REQUIRE(writer.write_sensor_run(series, run(1000, 1000, 1, 41)));
  const SessionReader reader = finish_and_read(writer);
  CHECK(runs_of(reader, series).size() == 2);
  CHECK(reader.sensor_sources().value().size() == 1);
}

ClientUsage usage_of(std::int64_t time_ms, std::uint64_t client) {
  ClientUsage usage;
  usage.time_ns = kStart + time_ms * kNsPerMs;
  usage.pid = 4242;
  usage.process = "vkcube";
  usage.pdev = "0000:c4:00.0";
  usage.client_id = client;
  return usage;
}

std::vector<ClientUsage> usage_in(const SessionReader& reader) {
  std::vector<ClientUsage> all;
  REQUIRE(reader.for_each_client_usage([&](const ClientUsage& usage) {
    all.push_back(usage);
    return Status{};
  }));
  return all;
}

TEST_CASE("a client's usage is kept where it changed and comes back whole") {
  const test::TempDir dir;
  SessionWriter writer = writer_in(dir);
  ClientUsage usage = usage_of(0, 12);
  usage.engine_ns = {{"gfx", 100}, {"dma", 5}};
  usage.vram_bytes = 1'000'000;
  REQUIRE(writer.write_client_usage(usage));
  REQUIRE(writer.write_client_usage(usage_of(0, 13)));
  usage.time_ns += 500 * kNsPerMs;
  REQUIRE(writer.write_client_usage(usage));  // no change
  usage.time_ns += 500 * kNsPerMs;
  usage.engine_ns["gfx"] = 300;
  usage.process = "vkcube-new";
  REQUIRE(writer.write_client_usage(usage));
  usage.time_ns += 500 * kNsPerMs;
  usage.vram_bytes = std::nullopt;
  usage.gtt_bytes = 0;
  REQUIRE(writer.write_client_usage(usage));

  const SessionReader reader = finish_and_read(writer);
  const std::vector<ClientUsage> all = usage_in(reader);
  REQUIRE(all.size() == 4);
  CHECK(all[0].client_id == 12);
  CHECK(all[0].time_ns == kStart);
  CHECK(all[0].pid == 4242);
  CHECK(all[0].process == "vkcube-new");
  CHECK(all[0].pdev == "0000:c4:00.0");
  CHECK(all[0].engine_ns == std::map<std::string, std::uint64_t>{{"gfx", 100}, {"dma", 5}});
  CHECK(all[0].vram_bytes == 1'000'000U);
  CHECK_FALSE(all[0].gtt_bytes);
  CHECK(all[1].client_id == 13);
  CHECK(all[1].engine_ns.empty());
  CHECK_FALSE(all[1].vram_bytes);
  CHECK(all[2].time_ns == kStart + kNsPerSecond);
  CHECK(all[2].engine_ns == std::map<std::string, std::uint64_t>{{"gfx", 300}, {"dma", 5}});
  CHECK(all[2].vram_bytes == 1'000'000U);
  CHECK_FALSE(all[3].vram_bytes);
  CHECK(all[3].gtt_bytes == 0U);
}

TEST_CASE("usage that runs backwards is refused, and any of it in a file for the group") {
  const test::TempDir dir;
  SessionWriter writer = writer_in(dir);
  REQUIRE(writer.write_client_usage(usage_of(500, 1)));
  CHECK(writer.write_client_usage(usage_of(400, 2)).error().code == ErrorCode::kInvalidArgument);
  ClientUsage wordy = usage_of(600, 3);
  wordy.process = std::string(300, 'x');
  CHECK(writer.write_client_usage(wordy).error().code == ErrorCode::kInvalidArgument);
  CHECK(usage_in(finish_and_read(writer)).size() == 1);

  SessionDescription day;
  day.kind = SessionKind::kBackground;
  Result<SessionWriter> shared =
      SessionWriter::create(dir.path() / "day.gputrace", OnExisting::kRefuse, day);
  REQUIRE(shared);
  CHECK(shared->write_client_usage(usage_of(0, 1)).error().code == ErrorCode::kInvalidArgument);
}

TEST_CASE("frames come back, and a span has those that ended in it") {
  const test::TempDir dir;
  SessionWriter writer = writer_in(dir);
  const std::vector<Frame> frames{{.end_ns = kStart, .duration_ns = 16'000'000},
                                  {.end_ns = kStart + 5, .duration_ns = 0},
                                  {.end_ns = kStart + 9, .duration_ns = 4}};
  REQUIRE(writer.write_frames(frames));
  const std::vector<Frame> backwards{{.end_ns = kStart, .duration_ns = 1}};
  CHECK(writer.write_frames(backwards).error().code == ErrorCode::kInvalidArgument);
  const SessionReader reader = finish_and_read(writer);
  const auto all = reader.frames(std::nullopt);
  REQUIRE(all);
  REQUIRE(all->size() == 3);
  CHECK(all->at(0).duration_ns == 16'000'000);
  CHECK(all->at(2).end_ns == kStart + 9);
  CHECK(reader.frames(TimeSpan{kStart + 5, kStart + 9}).value().size() == 1);
  // Without any sample or mean the frames say what time the file speaks for.
  REQUIRE(reader.span());
  CHECK(reader.span()->start_ns == kStart - 16'000'000);
  CHECK(reader.span()->end_ns == kStart + 10);
}

TEST_CASE("without samples the span is that of the sensors, with samples theirs") {
  const test::TempDir dir;
  SessionWriter writer = writer_in(dir);
  const auto source = writer.define_sensor_source(power_source());
  REQUIRE(source);
  REQUIRE(writer.write_sensor_run(source->series[0], run(0, 900, 10, 40)));
  SUBCASE("without") {
    const SessionReader reader = finish_and_read(writer);
    REQUIRE(reader.span());
    CHECK(reader.span()->start_ns == kStart);
    CHECK(reader.span()->end_ns == kStart + 900 * kNsPerMs + 1);
  }
  SUBCASE("with") {
    const test::SessionRecipe recipe;
    REQUIRE(writer.begin_segment(test::segment_of(recipe)));
    REQUIRE(writer.write_block(test::block_of(recipe, 0, 1000)));
    const SessionReader reader = finish_and_read(writer);
    REQUIRE(reader.span());
    CHECK(reader.span()->end_ns == kStart + kNsPerSecond);
  }
}

TEST_CASE("an error of the visitor ends a walk and is passed on as it is") {
  const test::TempDir dir;
  SessionWriter writer = writer_in(dir);
  const auto source = writer.define_sensor_source(power_source());
  REQUIRE(source);
  REQUIRE(writer.write_sensor_run(source->series[0], run(0, 0, 1, 1)));
  REQUIRE(writer.write_sensor_run(source->series[0], run(1, 1, 1, 2)));
  REQUIRE(writer.write_client_usage(usage_of(500, 1)));
  const SessionReader reader = finish_and_read(writer);
  std::size_t visits = 0;
  const Status runs =
      reader.for_each_sensor_run(std::nullopt, [&](std::int64_t, const SensorRun&) -> Status {
        ++visits;
        return fail(ErrorCode::kBusy, "enough");
      });
  REQUIRE_FALSE(runs);
  CHECK(runs.error().message == "enough");
  CHECK(visits == 1);
  const Status usage = reader.for_each_client_usage(
      [](const ClientUsage&) -> Status { return fail(ErrorCode::kBusy, "enough"); });
  REQUIRE_FALSE(usage);
  CHECK(usage.error().message == "enough");
}

TEST_CASE("the view sensor_values shows readings in seconds since the start") {
  const test::TempDir dir;
  SessionDescription description;
  description.started = TimeAnchor{kStart - kNsPerSecond, 0, 0};
  Result<SessionWriter> writer =
      SessionWriter::create(dir.path() / "a.gputrace", OnExisting::kRefuse, description);
  REQUIRE(writer);
  const auto source = writer->define_sensor_source(power_source());
  REQUIRE(source);
  REQUIRE(writer->write_sensor_run(source->series[0], run(500, 750, 3, 40.5)));
  REQUIRE(writer->finish({}));
  std::vector<std::string> columns;
  std::vector<QueryValue> values;
  const Status asked = query_session(
      dir.path() / "a.gputrace", "SELECT * FROM sensor_values", {},
      {[&](std::span<const std::string> names) { columns.assign(names.begin(), names.end()); },
       [&](std::span<const QueryValue> row) -> Status {
         values.assign(row.begin(), row.end());
         return {};
       }});
  REQUIRE_MESSAGE(asked, (asked ? "" : asked.error().message));
  CHECK(columns == std::vector<std::string>{"name", "source", "unit", "label", "start_s", "end_s",
                                            "readings", "value"});
  REQUIRE(values.size() == 8);
  CHECK(std::get<std::string>(values[0]) == "package_power");
  CHECK(std::get<std::string>(values[1]) == "hwmon power1_average");
  CHECK(std::get<double>(values[4]) == 1.5);
  CHECK(std::get<double>(values[5]) == 1.75);
  CHECK(std::get<std::int64_t>(values[6]) == 3);
  CHECK(std::get<double>(values[7]) == 40.5);
}

}  // namespace
}  // namespace gputrace::store
