// Sensors of sessions: into files, beside registers, while a source hangs, a GPU sleeps or is gone.
#include <doctest/doctest.h>
#include <fcntl.h>

#include <fstream>

#include "tests/daemon/recorder/shared_rig.h"

namespace gputrace::recorder {
namespace {

using test::FakeSensor;
using test::FakeSensorReader;

/// In the recorder's process: a GPU with two registers and these sensors.
ReaderFactory with_sensors(
    const std::function<std::vector<std::unique_ptr<sampler::SensorReader>>()>& sensors) {
  return [sensors](const GpuRequest&) -> Result<OpenedGpu> {
    OpenedGpu gpu = opened_gpu(two_registers());
    gpu.identity.pci = "0000:c4:00.0";
    gpu.sensors = sensors();
    gpu.machine_sensors.push_back(
        std::make_unique<FakeSensorReader>(std::make_shared<FakeSensor>("pmu amd_umc")));
    return gpu;
  };
}

std::vector<std::unique_ptr<sampler::SensorReader>> one(const std::shared_ptr<FakeSensor>& sensor) {
  std::vector<std::unique_ptr<sampler::SensorReader>> readers;
  readers.push_back(std::make_unique<FakeSensorReader>(sensor));
  return readers;
}

ReaderFactory hanging_sensor() {
  return with_sensors([] {
    const auto sensor = std::make_shared<FakeSensor>("gpu_metrics");
    sensor->hangs_at = 3;  // for good
    return one(sensor);
  });
}

store::StoredSensorSource source_of(const store::SessionReader& session, const std::string& name) {
  const auto sources = session.sensor_sources().value();
  for (const store::StoredSensorSource& source : sources) {
    if (source.source.name == name) {
      return source;
    }
  }
  return {};
}

std::uint64_t readings_of(const store::SessionReader& session,
                          const store::StoredSensorSource& source) {
  std::uint64_t readings = 0;
  if (!source.series.empty()) {
    const auto runs = session.sensor_runs(source.series[0], std::nullopt).value();
    for (const auto& run : runs) {
      readings += run.readings;
    }
  }
  return readings;
}

TEST_CASE("a session's file has the sensors of its GPU and of the machine, with their totals") {
  SharedRecorder recorder(with_sensors([] {
    const auto sensor = std::make_shared<FakeSensor>("gpu_metrics");
    sensor->value = [](std::uint64_t read, std::size_t) {
      return std::optional(static_cast<double>(read));
    };
    return one(sensor);
  }));
  const SessionClient client = recorder.attach();
  ipc::StartOrder order = recorder.order("a", 1000);
  order.sensor_rate_hz = 50;
  REQUIRE(client.start(order).gpu_name == "a GPU of the test");
  recorder.wait_until([&](const auto&) {
    const store::SessionReader session = recorder.session("a");
    return readings_of(session, source_of(session, "gpu_metrics")) > 20;
  });
  CHECK_FALSE(client.stop().cut);
  const store::SessionReader session = recorder.session("a");
  const auto of_gpu = source_of(session, "gpu_metrics");
  CHECK(of_gpu.source.gpu_pci == "0000:c4:00.0");
  CHECK(of_gpu.source.sensors.at(0).name == "package_power");
  CHECK(of_gpu.totals.reads == readings_of(session, of_gpu));
  CHECK(of_gpu.totals.rate_hz == doctest::Approx(50));
  const auto of_machine = source_of(session, "pmu amd_umc");
  CHECK_FALSE(of_machine.source.gpu_pci);
  CHECK(readings_of(session, of_machine) == of_machine.totals.reads);
  double expected = 0;
  const auto runs = session.sensor_runs(of_gpu.series[0], std::nullopt).value();
  for (const auto& run : runs) {
    CHECK(run.value == expected++);  // none is lost, none is doubled
    CHECK(run.start_ns >= session.segments()[0].description.start_ns);
  }
}

TEST_CASE("a session that wants no sensors gets none, beside one that does") {
  SharedRecorder recorder;
  const SessionClient with = recorder.attach();
  const SessionClient without = recorder.attach();
  ipc::StartOrder order = recorder.order("without", 1000);
  order.sensor_rate_hz = 0;
  REQUIRE(without.start(order).simulated == false);
  REQUIRE(with.start(recorder.order("with", 1000)).simulated == false);
  recorder.wait_until(
      [&](const auto&) { return recorder.session("with").sensor_sources().value().size() == 1; });
  CHECK_FALSE(with.stop().cut);
  CHECK_FALSE(without.stop().cut);
  CHECK(recorder.session("without").sensor_sources().value().empty());
}

TEST_CASE("a source that hangs is told once; registers and other sensors are read on") {
  SharedRecorder recorder(hanging_sensor());
  const SessionClient client = recorder.attach();
  REQUIRE(client.start(recorder.order("a", 1000)).simulated == false);
  const auto warning = client.answer<ipc::WarningAnswer>();
  CHECK_FALSE(warning.recording_ended);
  CHECK(warning.text.find("gpu_metrics does not answer") != std::string::npos);
  std::uint64_t ticks = 0;
  recorder.wait_until([&](const auto&) {
    ticks = ticks > 0 ? ticks : recorder.session("a").segments()[0].totals.ticks;
    return recorder.session("a").segments()[0].totals.ticks > ticks + 1000;
  });
  // It hangs still: the file is closed at once, and nothing is missing in it.
  const ipc::ClosedAnswer closed = client.stop();
  CHECK_FALSE(closed.cut);
  CHECK(closed.dropped == 0);
  const store::SessionReader session = recorder.session("a");
  CHECK(has(event_kinds(session), "sensor_stuck"));
  CHECK_FALSE(has(event_kinds(session), "warning"));
  const auto hanging = source_of(session, "gpu_metrics");
  CHECK(hanging.totals.reads == 3);
  CHECK(hanging.totals.late == 1);
  CHECK(hanging.totals.rate_hz == 0);
  CHECK(source_of(session, "pmu amd_umc").totals.reads > 8);
  recorder.close_control();
  recorder.wait_until_gone();
}

TEST_CASE("a source that failed at first is in the file once an answer has told its sensors") {
  SharedRecorder recorder(with_sensors([] {
    const auto sensor = std::make_shared<FakeSensor>("gpu_metrics");
    sensor->found_at = 1;
    sensor->outcome = [](std::uint64_t read) {
      return read < 1 ? sampler::SensorOutcome::kFailed : sampler::SensorOutcome::kRead;
    };
    return one(sensor);
  }));
  const SessionClient client = recorder.attach();
  REQUIRE(client.start(recorder.order("a", 1000)).simulated == false);
  const auto found = [&] {
    std::vector<store::StoredSensorSource> all;
    auto sources = recorder.session("a").sensor_sources().value();
    for (auto& source : sources) {
      if (source.source.name == "gpu_metrics" && source.totals.reads + source.totals.failed > 0) {
        all.push_back(std::move(source));
      }
    }
    return all;
  };
  recorder.wait_until([&](const auto&) {
    const auto sources = found();
    return sources.size() == 2 && sources[1].totals.reads > 3;
  });
  CHECK_FALSE(client.stop().cut);
  const auto sources = found();
  REQUIRE(sources.size() == 2);
  CHECK(sources[0].series.empty());
  CHECK(sources[0].totals.failed == 1);
  CHECK(sources[0].totals.reads == 0);
  CHECK(sources[1].source.sensors.at(0).name == "package_power");
  CHECK(sources[1].totals.failed == 0);
  const store::SessionReader session = recorder.session("a");
  CHECK(readings_of(session, sources[1]) == sources[1].totals.reads);
  // What else is read loses nothing by it.
  const auto of_machine = source_of(session, "pmu amd_umc");
  CHECK(readings_of(session, of_machine) == of_machine.totals.reads);
  CHECK(has(event_kinds(session), "sensor_back"));
}

TEST_CASE("a GPU that comes back goes on in the same series") {
  SharedRecorder recorder([opened = 0](const GpuRequest&) mutable -> Result<OpenedGpu> {
    auto reader = two_registers();
    if (opened++ == 0) {
      reader->lose_at(1000, 0, "ENODEV");
      reader->lose_at(1000, 1, "ENODEV");
    }
    return opened_gpu(std::move(reader));
  });
  const SessionClient client = recorder.attach();
  REQUIRE(client.start(recorder.order("a", 1000)).simulated == false);
  recorder.wait_until([&](const auto&) { return recorder.session("a").segments().size() == 2; });
  CHECK_FALSE(client.stop().cut);
  const store::SessionReader session = recorder.session("a");
  REQUIRE(session.sensor_sources().value().size() == 1);
  const auto source = session.sensor_sources().value()[0];
  const auto runs = session.sensor_runs(source.series[0], std::nullopt).value();
  CHECK(runs.front().start_ns < session.segments()[0].end_ns);
  CHECK(runs.back().end_ns >= session.segments()[1].description.start_ns);
  CHECK(source.totals.reads == readings_of(session, source));
}

/// Has its file open as a driver's would be.
class FileReader final : public sampler::SensorReader {
 public:
  explicit FileReader(std::filesystem::path path) : path_(std::move(path)) {}
  [[nodiscard]] std::string_view name() const noexcept override { return "hwmon"; }
  [[nodiscard]] std::span<const sampler::SensorDescription> sensors() const noexcept override {
    return sensors_;
  }
  [[nodiscard]] bool needs_gpu_awake() const noexcept override { return true; }
  [[nodiscard]] sampler::SensorOutcome read(
      std::span<std::optional<double>> values) noexcept override {
    if (!file_) {
      file_.reset(::open(path_.c_str(), O_RDONLY | O_CLOEXEC));
    }
    values[0] = 15;
    return sampler::SensorOutcome::kRead;
  }
  void release() noexcept override { file_.reset(); }
  [[nodiscard]] std::string last_error() const override { return ""; }

 private:
  std::filesystem::path path_;
  UniqueFd file_;
  std::vector<sampler::SensorDescription> sensors_{
      {"package_power", "hwmon", "", "W", sampler::SensorKind::kGauge, "", ""}};
};

bool has_open(pid_t pid, const std::filesystem::path& path) {
  std::error_code ignored;
  for (const auto& fd :
       std::filesystem::directory_iterator("/proc/" + std::to_string(pid) + "/fd", ignored)) {
    if (std::filesystem::read_symlink(fd, ignored) == path) {
      return true;
    }
  }
  return false;
}

TEST_CASE("while the GPU sleeps its sensors are not read and their files are closed") {
  const test::TempDir folder;
  const std::filesystem::path file = std::filesystem::canonical(folder.path()) / "power1_average";
  const std::filesystem::path asleep = folder.path() / "asleep";
  std::ofstream(file) << "15000000\n";
  SharedRecorder recorder([file, asleep](const GpuRequest&) -> Result<OpenedGpu> {
    OpenedGpu gpu = opened_gpu(two_registers());
    gpu.sensors.clear();
    gpu.sensors.push_back(std::make_unique<FileReader>(file));
    gpu.is_awake = [asleep] { return !std::filesystem::exists(asleep); };
    return gpu;
  });
  const SessionClient client = recorder.attach();
  REQUIRE(client.start(recorder.order("a", 1000)).simulated == false);
  const auto reads = [&] { return source_of(recorder.session("a"), "hwmon").totals.reads; };
  recorder.wait_until([&](const auto&) { return reads() > 0; });
  CHECK(has_open(recorder.pid(), file));
  std::ofstream(asleep) << "";
  while (has_open(recorder.pid(), file)) {
  }
  std::filesystem::remove(asleep);
  while (!has_open(recorder.pid(), file)) {
  }
  CHECK_FALSE(client.stop().cut);
  const store::SessionReader session = recorder.session("a");
  CHECK(source_of(session, "hwmon").totals.failed == 0);
  CHECK_FALSE(has(event_kinds(session), "sensor_lost"));
}

}  // namespace
}  // namespace gputrace::recorder
