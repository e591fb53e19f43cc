#include "daemon/os/sensors/gpu_metrics_reader.h"

#include <doctest/doctest.h>
#include <sys/stat.h>

#include <algorithm>
#include <cerrno>
#include <filesystem>
#include <fstream>
#include <string>
#include <vector>

#include "tests/support/counted_allocations.h"
#include "tests/support/metrics_table.h"
#include "tests/support/temp_dir.h"

using namespace gputrace::os;
using gputrace::regdb::GcVersion;
using gputrace::sampler::SensorDescription;
using gputrace::sampler::SensorKind;
using gputrace::sampler::SensorOutcome;
using gputrace::sampler::SensorReader;
using gputrace::test::MetricsTable;
using gputrace::test::TempDir;

namespace {

constexpr GcVersion kPhoenix{11, 0, 1};

class Device {
 public:
  [[nodiscard]] std::string file() const { return (folder_.path() / "gpu_metrics").string(); }
  [[nodiscard]] const std::filesystem::path& folder() const { return folder_.path(); }
  void write(const MetricsTable& table) const { table.write(file()); }
  void write(const std::string& bytes) const {
    std::ofstream(file(), std::ios::binary | std::ios::trunc) << bytes;
  }
  void copy(const std::string& name) const {
    std::filesystem::copy_file(std::string(GPUTRACE_FIXTURES) + "/gpu_metrics/" + name, file(),
                               std::filesystem::copy_options::overwrite_existing);
  }
  [[nodiscard]] OpenedGpuMetrics open(const std::optional<GcVersion>& gc = kPhoenix) const {
    return open_gpu_metrics_reader(folder_.path(), gc);
  }

 private:
  TempDir folder_;
};

struct Sample {
  SensorOutcome outcome = SensorOutcome::kFailed;
  std::vector<std::optional<double>> values;
};

Sample read(SensorReader& reader) {
  Sample sample;
  sample.values.assign(reader.sensors().size(), -1);
  sample.outcome = reader.read(sample.values);
  return sample;
}

std::size_t index_of(const SensorReader& reader, std::string_view name) {
  const auto sensors = reader.sensors();
  const auto found =
      std::find_if(sensors.begin(), sensors.end(),
                   [&](const SensorDescription& sensor) { return sensor.name == name; });
  REQUIRE_MESSAGE(found != sensors.end(), name);
  return static_cast<std::size_t>(found - sensors.begin());
}

const SensorDescription& sensor(const SensorReader& reader, std::string_view name) {
  return reader.sensors()[index_of(reader, name)];
}

bool has(const SensorReader& reader, std::string_view name) {
  return std::any_of(reader.sensors().begin(), reader.sensors().end(),
                     [&](const SensorDescription& one) { return one.name == name; });
}

std::optional<double> value(SensorReader& reader, std::string_view name) {
  const Sample sample = read(reader);
  CHECK(sample.outcome == SensorOutcome::kRead);
  return sample.values[index_of(reader, name)];
}

bool all_absent(const Sample& sample) {
  return std::none_of(sample.values.begin(), sample.values.end(),
                      [](const auto& one) { return one.has_value(); });
}

}  // namespace

TEST_CASE("a table of an APU becomes series with units, source, cover and the decision of units") {
  const Device device;
  device.copy("phoenix.bin");
  const OpenedGpuMetrics opened = device.open();
  REQUIRE(opened.reader != nullptr);
  SensorReader& reader = *opened.reader;
  CHECK(opened.finding.state == SourceState::kWorks);
  CHECK(opened.finding.loses.empty());
  CHECK(reader.name() == "gpu_metrics");
  CHECK(reader.needs_gpu_awake());

  CHECK(value(reader, "package_power") == doctest::Approx(3.401));
  const SensorDescription& power = sensor(reader, "package_power");
  CHECK(power.source == "gpu_metrics average_socket_power");
  CHECK(power.unit == "W");
  CHECK(power.covers == "CPU and GPU together");
  CHECK(power.decision ==
        "mW: driver of GC 11.0.1 (smu13_driver_if_v13_0_4.h: [mW]); range test agrees");
  CHECK(value(reader, "gfx_activity") == doctest::Approx(0.79));
  CHECK(sensor(reader, "gfx_activity").covers.empty());
  CHECK(value(reader, "core_temperature_7") == doctest::Approx(23.75));
  CHECK(sensor(reader, "core_temperature_7").source == "gpu_metrics temperature_core[7]");
  CHECK(sensor(reader, "core_temperature_7").covers == "CPU");
  CHECK(sensor(reader, "throttle_status").kind == SensorKind::kBits);
  CHECK(value(reader, "throttle_status") == 0);
  CHECK(value(reader, "gfx_clock_average") == 800);
}

TEST_CASE("what the driver leaves out is no series, and an all-ones value later is absent") {
  const Device device;
  device.copy("phoenix.bin");
  const OpenedGpuMetrics opened = device.open();
  REQUIRE(opened.reader != nullptr);
  CHECK_FALSE(has(*opened.reader, "cpu_power"));
  CHECK_FALSE(has(*opened.reader, "gfx_clock"));
  CHECK_FALSE(has(*opened.reader, "l3_temperature_1"));
  CHECK(has(*opened.reader, "l3_temperature_0"));

  MetricsTable later(2, 1);
  device.write(later.set("average_gfx_activity", 5000).set("temperature_gfx", 4000));
  CHECK(value(*opened.reader, "gfx_activity") == doctest::Approx(50));
  CHECK_FALSE(value(*opened.reader, "package_power"));
}

TEST_CASE("a rail that is off at the start is a series without a value until it is on") {
  const Device device;
  MetricsTable table(1, 3);
  device.write(table.set("temperature_edge", 40).set("temperature_mem", 0).set("voltage_gfx", 0));
  const OpenedGpuMetrics opened = device.open(GcVersion{10, 3, 0});
  REQUIRE(opened.reader != nullptr);
  CHECK_FALSE(opened.is_apu);
  CHECK_FALSE(has(*opened.reader, "mem_temperature"));
  CHECK_FALSE(value(*opened.reader, "gfx_voltage"));
  CHECK(opened.reader->last_error().empty());
  const std::size_t voltage = index_of(*opened.reader, "gfx_voltage");
  CHECK(opened.reader->evidence(voltage).raw == "0");
  CHECK(opened.reader->evidence(voltage).absent == "zero: not measured");
  device.write(table.set("voltage_gfx", 706));
  CHECK(value(*opened.reader, "gfx_voltage") == 0.706);
  CHECK(opened.reader->evidence(voltage).raw == "706");
  CHECK(opened.reader->evidence(voltage).absent.empty());
}

TEST_CASE("each sample is one read of the whole table from its beginning") {
  const Device device;
  device.write(MetricsTable(2, 1).set("temperature_gfx", 4000).set("average_gfx_activity", 100));
  const OpenedGpuMetrics opened = device.open();
  REQUIRE(opened.reader != nullptr);
  for (const std::uint64_t raw : {200U, 300U, 400U}) {
    device.write(MetricsTable(2, 1).set("temperature_gfx", 4000).set("average_gfx_activity", raw));
    CHECK(value(*opened.reader, "gfx_activity") == doctest::Approx(static_cast<double>(raw) / 100));
  }
}

TEST_CASE("a table that cannot be true gives no value at all, and the reason") {
  const Device device;
  MetricsTable good(2, 1);
  good.set("temperature_gfx", 4000).set("average_gfx_activity", 900);
  device.write(good);
  const OpenedGpuMetrics opened = device.open();
  REQUIRE(opened.reader != nullptr);

  MetricsTable torn = good;
  device.write(torn.set("temperature_gfx", 60000));
  Sample sample = read(*opened.reader);
  CHECK(sample.outcome == SensorOutcome::kRejected);
  CHECK(all_absent(sample));
  CHECK(opened.reader->last_error() ==
        device.file() + ": torn or garbage: temperature_gfx = 60000, which no machine has");

  device.write(std::string(120, '\0'));
  sample = read(*opened.reader);
  CHECK(sample.outcome == SensorOutcome::kRejected);
  CHECK(all_absent(sample));
  CHECK(opened.reader->last_error().find("zero") != std::string::npos);

  device.write(std::string());
  CHECK(read(*opened.reader).outcome == SensorOutcome::kRejected);

  device.write(MetricsTable(2, 2).set("temperature_gfx", 4000));
  CHECK(read(*opened.reader).outcome == SensorOutcome::kRejected);
  CHECK(opened.reader->last_error() == device.file() + ": the table's revision has changed");

  device.write(good);
  CHECK(value(*opened.reader, "gfx_activity") == doctest::Approx(9));
}

TEST_CASE("a file that goes away is an error with its cause, and is opened again when it is back") {
  const Device device;
  const MetricsTable table = MetricsTable(2, 1).set("temperature_gfx", 4000);
  device.write(table);
  const OpenedGpuMetrics opened = device.open();
  REQUIRE(opened.reader != nullptr);
  opened.reader->release();
  std::filesystem::remove(device.file());
  const Sample sample = read(*opened.reader);
  CHECK(sample.outcome == SensorOutcome::kFailed);
  CHECK(all_absent(sample));
  CHECK(opened.reader->last_error() ==
        "cannot read " + device.file() + ": No such file or directory");
  device.write(table);
  CHECK(value(*opened.reader, "gfx_temperature") == doctest::Approx(40));
}

TEST_CASE("energy counts from the opening, over the wrap of a 32-bit counter, and never back") {
  const Device device;
  const auto table = [](std::uint64_t energy) {
    return MetricsTable(1, 0).set("temperature_edge", 40).set("energy_accumulator", energy);
  };
  device.write(table(0xffff0000));
  const OpenedGpuMetrics opened = device.open(std::nullopt);
  REQUIRE(opened.reader != nullptr);
  SensorReader& reader = *opened.reader;
  CHECK(sensor(reader, "package_energy").kind == SensorKind::kCounter);
  CHECK(sensor(reader, "package_energy").unit == "J");
  CHECK(value(reader, "package_energy") == 0);
  device.write(table(0xffff8000));
  CHECK(value(reader, "package_energy") == doctest::Approx(0.5));
  device.write(table(0x00010000));  // wrapped
  CHECK(value(reader, "package_energy") == doctest::Approx(2.0));
  device.write(table(0x00000010));  // stepped back: the counter began anew
  CHECK(value(reader, "package_energy") == doctest::Approx(2.0));
  device.write(table(0x00010010));
  CHECK(value(reader, "package_energy") == doctest::Approx(3.0));
}

TEST_CASE("64 bits of throttle reasons are two series of 32") {
  const Device device;
  device.write(MetricsTable(1, 3)
                   .set("temperature_edge", 40)
                   .set("indep_throttle_status", (1ULL << 36) | 0x2));
  const OpenedGpuMetrics opened = device.open(GcVersion{10, 3, 0});
  REQUIRE(opened.reader != nullptr);
  CHECK(value(*opened.reader, "throttle_independent_low") == 2);
  CHECK(value(*opened.reader, "throttle_independent_high") == 16);
  CHECK(sensor(*opened.reader, "throttle_independent_high").kind == SensorKind::kBits);
}

TEST_CASE("3.0 gives DRAM rates of CPU and GPU together, and residencies as counters") {
  const Device device;
  device.copy("strixpoint.bin");
  const OpenedGpuMetrics opened = device.open(GcVersion{11, 5, 0});
  REQUIRE(opened.reader != nullptr);
  SensorReader& reader = *opened.reader;
  CHECK(value(reader, "dram_read_rate") == doctest::Approx(2504e6));
  CHECK(value(reader, "dram_write_rate") == doctest::Approx(637e6));
  CHECK(sensor(reader, "dram_read_rate").unit == "bytes/s");
  CHECK(sensor(reader, "dram_read_rate").covers == "CPU and GPU together");
  CHECK(sensor(reader, "throttle_residency_spl").kind == SensorKind::kCounter);
  CHECK(value(reader, "throttle_residency_spl") == 0);
}

TEST_CASE("on RDNA3 current_gfxclk is no second series of the average") {
  const Device device;
  device.copy("rx7800xt.bin");
  const OpenedGpuMetrics navi32 = device.open(GcVersion{11, 0, 3});
  REQUIRE(navi32.reader != nullptr);
  CHECK_FALSE(has(*navi32.reader, "gfx_clock"));
  CHECK(has(*navi32.reader, "gfx_clock_average"));
  CHECK_FALSE(has(*navi32.reader, "package_energy"));  // this firmware leaves it zero
  const OpenedGpuMetrics navi21 = device.open(GcVersion{10, 3, 0});
  REQUIRE(navi21.reader != nullptr);
  CHECK(has(*navi21.reader, "gfx_clock"));
}

TEST_CASE("a missing file is normal; one that is empty too; both say what is lost") {
  const Device device;
  OpenedGpuMetrics opened = device.open();
  CHECK(opened.reader == nullptr);
  CHECK(opened.finding.source == "gpu_metrics");
  CHECK(opened.finding.state == SourceState::kAbsent);
  CHECK(opened.finding.error_number == ENOENT);
  CHECK(opened.finding.reason ==
        device.file() + ": No such file or directory; amdgpu offers it from GC 9.1 on");
  CHECK_FALSE(opened.finding.loses.empty());

  device.write(std::string());
  opened = device.open();
  CHECK(opened.reader == nullptr);
  CHECK(opened.finding.state == SourceState::kAbsent);
  CHECK(opened.finding.error_number == 0);
}

TEST_CASE("tables that are broken at the opening are named as broken") {
  const Device device;
  device.copy("apu-v2_2-truncated-109-of-128.bin");
  OpenedGpuMetrics opened = device.open();
  CHECK(opened.reader == nullptr);
  CHECK(opened.finding.state == SourceState::kBroken);
  CHECK(opened.finding.reason == device.file() + ": 109 of the 128 bytes that its header states");

  device.write(MetricsTable(2, 1).put(3, 1, 7));
  opened = device.open();
  CHECK(opened.finding.state == SourceState::kBroken);
  CHECK(opened.finding.fix == "a newer gputrace may know this revision");

  device.write(MetricsTable(2, 1).set("system_clock_counter", 12));
  opened = device.open();
  CHECK(opened.reader == nullptr);
  CHECK(opened.finding.state == SourceState::kBroken);
  CHECK(opened.finding.reason == device.file() + ": a table in which the driver provides nothing");
}

TEST_CASE("errors of the file become findings by their errno") {
  const Device device;
  std::filesystem::create_directory(device.file());  // read() of it gives EISDIR
  const OpenedGpuMetrics opened = device.open();
  CHECK(opened.reader == nullptr);
  CHECK(opened.finding.state == SourceState::kBroken);
  CHECK(opened.finding.error_number == EISDIR);
  CHECK(opened.finding.reason == device.file() + ": Is a directory");
}

TEST_CASE("a reader for later has no series until the first whole table, then those of any other") {
  const Device device;
  const auto reader = gpu_metrics_reader_for_later(device.folder(), kPhoenix);
  CHECK(reader->sensors().empty());
  CHECK(read(*reader).outcome == SensorOutcome::kFailed);
  CHECK(reader->last_error() == "cannot read " + device.file() + ": No such file or directory");
  device.copy("apu-v2_2-truncated-109-of-128.bin");
  CHECK(read(*reader).outcome == SensorOutcome::kRejected);
  device.write(MetricsTable(2, 1).set("system_clock_counter", 12));
  CHECK(read(*reader).outcome == SensorOutcome::kRejected);
  CHECK(reader->last_error() == device.file() + ": a table in which the driver provides nothing");
  CHECK(reader->sensors().empty());

  device.copy("phoenix.bin");
  CHECK(read(*reader).outcome == SensorOutcome::kRead);
  const OpenedGpuMetrics opened = device.open();
  REQUIRE(opened.reader != nullptr);
  REQUIRE(reader->sensors().size() == opened.reader->sensors().size());
  for (std::size_t i = 0; i < reader->sensors().size(); ++i) {
    CHECK(reader->sensors()[i].name == opened.reader->sensors()[i].name);
    CHECK(reader->sensors()[i].decision == opened.reader->sensors()[i].decision);
  }
  CHECK(value(*reader, "package_power") == value(*opened.reader, "package_power"));
  CHECK(reader->last_error().empty());
}

TEST_CASE("a sample allocates nothing, rejected or not") {
  const Device device;
  device.copy("strixpoint.bin");
  const OpenedGpuMetrics opened = device.open(GcVersion{11, 5, 0});
  REQUIRE(opened.reader != nullptr);
  std::vector<std::optional<double>> values(opened.reader->sensors().size());
  CHECK(opened.reader->read(values) == SensorOutcome::kRead);
  opened.reader->release();
  const std::uint64_t before = gputrace::test::allocation_count();
  const SensorOutcome first = opened.reader->read(values);
  const SensorOutcome second = opened.reader->read(values);
  CHECK(gputrace::test::allocation_count() == before);
  CHECK(first == SensorOutcome::kRead);
  CHECK(second == SensorOutcome::kRead);
}
