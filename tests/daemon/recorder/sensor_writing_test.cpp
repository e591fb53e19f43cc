// Readings to runs of a file, and their way through a feed.
#include "daemon/recorder/sensor_writing.h"

#include <doctest/doctest.h>

#include <cmath>

#include "daemon/store/session_reader.h"
#include "tests/support/error_text.h"
#include "tests/support/temp_dir.h"

namespace gputrace::recorder {
namespace {

constexpr std::int64_t kStartNs = 1000 * kNsPerSecond;
constexpr std::int64_t kTickNs = 100 * kNsPerMs;

store::SensorSource source_named(const std::string& name) {
  store::SensorSource source;
  source.name = name;
  source.gpu_pci = "0000:c4:00.0";
  source.sensors = {{"package_power", name + " a", "", "W", sampler::SensorKind::kGauge, "", ""},
                    {"gfx_clock", name + " b", "", "MHz", sampler::SensorKind::kGauge, "", ""}};
  return source;
}

/// A loop of one source, and the file that its batches go to.
class WrittenSensors {
 public:
  WrittenSensors() {
    store::SessionDescription description;
    description.started = TimeAnchor{kStartNs, kStartNs, 1'790'000'000 * kNsPerSecond};
    writer = std::make_unique<store::SessionWriter>(
        store::SessionWriter::create(file(), store::OnExisting::kRefuse, description).value());
    store::SegmentDescription segment;
    segment.start_ns = kStartNs;
    segment.rate_hz = 1000;
    segment.regdb_table = "11.0.0";
    segment.registers.resize(1);
    segment.registers[0].name = "GRBM_STATUS";
    segment.reason = "start";
    REQUIRE(writer->begin_segment(segment));
    begin_loop();
  }

  /// Another loop of the same source; its counters are new.
  void begin_loop() {
    auto described = std::make_shared<SharedSensorSources>();
    described->sources = {source_named("gpu_metrics")};
    batch.sources = std::move(described);
    batch.states.assign(1, {});
    batch.states[0].rate_hz = 10;
    take();
  }
  void read(std::int64_t time_ns, std::optional<double> a, std::optional<double> b) {
    ++batch.states[0].reads;
    batch.states[0].cost_ns += 2000;
    batch.readings = {{0, time_ns - 1000, time_ns + 1000, {a, b}}};
    take();
  }
  void fail_read() {
    ++batch.states[0].failed;
    take();
  }
  [[nodiscard]] store::SessionReader finish() {
    REQUIRE(sensors.write_open(*writer));
    REQUIRE(writer->finish({kStartNs + 10 * kNsPerSecond, 0, std::nullopt}));
    return store::SessionReader::open(file()).value();
  }
  [[nodiscard]] std::filesystem::path file() const { return folder.path() / "a.gputrace"; }

  test::TempDir folder;
  std::unique_ptr<store::SessionWriter> writer;
  SensorWriting sensors;
  SensorBatch batch;

 private:
  void take() {
    const Status status = sensors.take(batch, *writer);
    REQUIRE_MESSAGE(status, test::error_text(status));
    batch.readings.clear();
  }
};

std::vector<store::SensorRun> runs_of(const store::SessionReader& session, std::size_t series) {
  const auto sources = session.sensor_sources().value();
  REQUIRE(sources.size() == 1);
  return session.sensor_runs(sources[0].series.at(series), std::nullopt).value();
}

TEST_CASE("equal readings become a run, cut at each second") {
  WrittenSensors written;
  for (int tick = 0; tick < 20; ++tick) {
    written.read(kStartNs + kTickNs / 2 + tick * kTickNs, 15, tick);
  }
  const store::SessionReader session = written.finish();
  const auto equal = runs_of(session, 0);
  REQUIRE(equal.size() == 2);
  CHECK(equal[0].start_ns == kStartNs + kTickNs / 2);
  CHECK(equal[0].end_ns == equal[0].start_ns + 9 * kTickNs);
  CHECK(equal[0].readings == 10);
  CHECK(equal[0].value == 15);
  CHECK(equal[1].start_ns == kStartNs + kNsPerSecond + kTickNs / 2);
  const auto changing = runs_of(session, 1);
  REQUIRE(changing.size() == 20);
  CHECK(changing[7].value == 7);
  CHECK(changing[7].start_ns == changing[7].end_ns);
  const store::SensorSourceTotals totals = session.sensor_sources().value()[0].totals;
  CHECK(totals.reads == 20);
  CHECK(totals.cost_ns == 40'000);
  CHECK(totals.worst_ns == 2000);
  CHECK(totals.rate_hz == 10);
}

TEST_CASE("no run reaches over an absent value, a failed read, a rest or a commit") {
  WrittenSensors written;
  const std::int64_t at = kStartNs + kTickNs / 2;
  SUBCASE("absent") {
    written.read(at, 15, 1);
    written.read(at + kTickNs, std::nullopt, 1);
    written.read(at + 2 * kTickNs, 15, 1);
  }
  SUBCASE("failed") {
    written.read(at, 15, 1);
    written.fail_read();
    written.read(at + 2 * kTickNs, 15, 1);
  }
  SUBCASE("rest") {
    written.read(at, 15, 1);
    written.read(at + 3 * kTickNs, 15, 1);
  }
  SUBCASE("commit") {
    written.read(at, 15, 1);
    REQUIRE(written.sensors.write_open(*written.writer));
    REQUIRE(written.writer->commit());
    written.read(at + kTickNs, 15, 1);
  }
  const store::SessionReader session = written.finish();
  const auto runs = runs_of(session, 0);
  REQUIRE(runs.size() == 2);
  CHECK(runs[0].readings == 1);
  CHECK(runs[1].readings == 1);
}

TEST_CASE("what is committed has its totals, however the recorder ends") {
  WrittenSensors written;
  written.read(kStartNs + kTickNs, 15, 1);
  written.fail_read();
  REQUIRE(written.sensors.write_open(*written.writer));
  REQUIRE(written.writer->commit());
  const store::SessionReader session = store::SessionReader::open(written.file()).value();
  CHECK(runs_of(session, 0).size() == 1);
  CHECK(session.sensor_sources().value()[0].totals.failed == 1);
}

TEST_CASE("a source of a new loop goes on as the same one, and what came before counts once") {
  WrittenSensors written;
  written.read(kStartNs + kTickNs, 15, 1);
  written.read(kStartNs + 2 * kTickNs, 15, 1);
  written.begin_loop();
  written.read(kStartNs + 3 * kTickNs, 15, 1);
  const store::SessionReader session = written.finish();
  CHECK(runs_of(session, 0).size() == 2);  // between two loops nothing was read
  CHECK(session.sensor_sources().value()[0].totals.reads == 3);
}

TEST_CASE("what a source counted before the session is not the session's") {
  WrittenSensors written;
  auto others = std::make_shared<SharedSensorSources>(*written.batch.sources);
  written.batch.sources = others;
  written.batch.states[0].reads = 1000;
  written.batch.states[0].failed = 7;
  written.batch.states[0].worst_ns = 400 * kNsPerMs;
  REQUIRE(written.sensors.take(written.batch, *written.writer));
  written.read(kStartNs + kTickNs, 15, 1);
  const store::SessionReader session = written.finish();
  const store::SensorSourceTotals totals = session.sensor_sources().value()[0].totals;
  CHECK(totals.reads == 1);
  CHECK(totals.failed == 0);
  CHECK(totals.worst_ns == 2000);
}

TEST_CASE("a feed keeps so many batches; what it drops is counted and costs no block") {
  SessionFeed feed;
  const auto batch = std::make_shared<const SensorBatch>();
  for (int i = 0; i < 1000; ++i) {
    feed.push(batch);
  }
  auto segment = std::make_shared<SharedSegment>();
  segment->registers.resize(1);
  auto block = std::make_unique<sampler::SampleBlock>(1, 10);
  block->register_count = 1;
  block->size = 10;
  feed.push(segment, std::move(block));
  feed.close();
  std::size_t kept = 0;
  std::uint64_t dropped = 0;
  std::size_t ticks = 0;
  while (!feed.closed()) {
    const std::optional<FeedItem> item = feed.pop(0);
    REQUIRE(item.has_value());
    kept += item->sensors.size();
    dropped += item->dropped_sensors;
    ticks += item->block ? item->block->size : 0;
  }
  CHECK(kept == 300);
  CHECK(dropped == 700);
  CHECK(ticks == 10);
}

}  // namespace
}  // namespace gputrace::recorder
