// The sensors as the slow loop reads them: names, units, and values that are those of the model.
#include "daemon/simulated_gpu/sensor_readers.h"

#include <doctest/doctest.h>

#include <algorithm>
#include <chrono>
#include <ctime>
#include <map>
#include <set>
#include <thread>

#include "daemon/base/time.h"
#include "daemon/simulated_gpu/metrics_table.h"
#include "daemon/simulated_gpu/sensor_files.h"
#include "daemon/simulated_gpu/simulated_gpu.h"
#include "tests/support/error_text.h"

namespace gputrace::test {
namespace {

using namespace simulated_gpu;

struct Shown {
  sampler::SensorDescription description;
  double value = 0;
};

/// By source. Every value must be there.
std::map<std::string, Shown> read_all(const SensorReaders& readers) {
  std::map<std::string, Shown> shown;
  for (const auto& reader : readers) {
    CAPTURE(reader->name());
    std::vector<std::optional<double>> values(reader->sensors().size());
    CHECK(reader->read(values) == sampler::SensorOutcome::kRead);
    CHECK(reader->last_error().empty());
    for (std::size_t i = 0; i < values.size(); ++i) {
      const sampler::SensorDescription& description = reader->sensors()[i];
      CAPTURE(description.source);
      REQUIRE(values[i].has_value());
      const bool is_half = description.unit == "bits";  // two series of one field
      CHECK((shown.emplace(description.source, Shown{description, values[i].value_or(0)}).second ||
             is_half));
    }
  }
  return shown;
}

Result<OpenedSimulation> open_since(const std::string& argument, std::int64_t seconds) {
  return open_simulated_gpu(argument, regdb::RegisterDatabase::built_in(), {},
                            monotonic_now_ns() - seconds * kNsPerSecond);
}

TEST_CASE("a simulated 780M shows each quantity under the name that a real one has") {
  auto opened = open_since("sim:780m:idle", 1000);
  REQUIRE_MESSAGE(opened.has_value(), error_text(opened));
  auto shown = read_all(opened->sensors);
  const auto check = [&](const std::string& source, std::string_view name, std::string_view label,
                         std::string_view unit, double value) {
    CAPTURE(source);
    const auto found = shown.find("simulated " + source);
    REQUIRE(found != shown.end());
    CHECK(found->second.description.name == name);
    CHECK(found->second.description.label == label);
    CHECK(found->second.description.unit == unit);
    CHECK(found->second.value == doctest::Approx(value).epsilon(0.02));
  };
  check("hwmon power1_average", "package_power", "PPT", "W", 3.2);
  check("hwmon power1_input", "package_power", "PPT", "W", 3.2);
  check("hwmon temp1_input", "edge_temperature", "edge", "C", 36.5);
  check("hwmon freq1_input", "gfx_clock", "sclk", "MHz", 400);
  check("hwmon in0_input", "gfx_voltage", "vddgfx", "V", 0.65);
  check("hwmon in1_input", "soc_voltage", "vddnb", "V", 0.615);
  check("gpu_busy_percent", "gfx_activity", "", "%", 0);
  check("mem_info_vram_total", "vram_total", "", "bytes", 4294967296);
  check("gpu_metrics average_socket_power", "package_power", "", "W", 3.2);
  check("gpu_metrics average_gfx_activity", "gfx_activity", "", "%", 0);
  check("gpu_metrics temperature_gfx", "gfx_temperature", "", "C", 36.5);
  check("gpu_metrics average_gfxclk_frequency", "gfx_clock_average", "", "MHz", 400);
  check("gpu_metrics throttle_status", "throttle_status", "", "bits", 0);
  CHECK(shown.at("simulated hwmon power1_average").description.covers == "CPU and GPU together");
  check("gpu_metrics temperature_core[7]", "core_temperature_7", "", "C", 36.5);
  CHECK_FALSE(shown.contains("simulated hwmon fan1_input"));  // an APU has no fan of its own
  CHECK_FALSE(shown.contains("simulated gpu_metrics current_gfxclk"));  // Phoenix leaves it out
  const auto& throttle = shown.at("simulated gpu_metrics throttle_status").description;
  CHECK(throttle.kind == sampler::SensorKind::kBits);
}

TEST_CASE("an APU's machine has processor sensors and DRAM counters, a card's has none here") {
  auto opened = open_since("sim:780m:idle", 1000);
  REQUIRE(opened.has_value());
  const auto shown = read_all(opened->machine_sensors);
  CHECK(shown.at("simulated hwmon temp1_input").description.name == "cpu_temperature");
  CHECK(shown.at("simulated hwmon temp1_input").description.label == "Tctl");
  const Shown& energy = shown.at("simulated pmu power energy-pkg");
  CHECK(energy.description.name == "package_energy");
  CHECK(energy.description.kind == sampler::SensorKind::kCounter);
  CHECK(energy.value == doctest::Approx(3200).epsilon(0.01));
  const Shown& read = shown.at("simulated pmu amd_umc umc_cas_cmd.rd");
  CHECK(read.description.name == "dram_read");
  CHECK(read.description.unit == "bytes");
  CHECK(read.description.kind == sampler::SensorKind::kCounter);
  CHECK_FALSE(read.description.covers.empty());
  CHECK(shown.at("simulated pmu amd_umc umc_cas_cmd.wr").description.name == "dram_write");
  for (const auto& reader : opened->machine_sensors) {
    CHECK_FALSE(reader->needs_gpu_awake());
  }

  auto card = open_since("sim:rx7600:idle", 1000);
  REQUIRE(card.has_value());
  CHECK(card->machine_sensors.empty());
  const auto of_card = read_all(card->sensors);
  CHECK(of_card.at("simulated hwmon power1_average").description.covers.empty());
  CHECK(of_card.at("simulated hwmon power1_cap").value == 165);
  CHECK(of_card.contains("simulated gpu_metrics average_gfxclk_frequency"));
  std::set<std::string> names;
  for (const sampler::SensorDescription& series : card->sensors.front()->sensors()) {
    names.insert(series.name);
  }
  CHECK(names.contains("throttle_independent_low"));
  CHECK(names.contains("throttle_independent_high"));
  CHECK(of_card.at("simulated gpu_metrics energy_accumulator").description.kind ==
        sampler::SensorKind::kCounter);
}

TEST_CASE("all sources of one quantity agree with the model under load") {
  const std::int64_t begin_ns = monotonic_now_ns() - 600 * kNsPerSecond;
  for (const char* argument : {"sim:780m:chase", "sim:rx7600:chase"}) {
    CAPTURE(argument);
    auto opened = open_simulated_gpu(argument, regdb::RegisterDatabase::built_in(), {}, begin_ns);
    REQUIRE_MESSAGE(opened.has_value(), error_text(opened));
    const SensorValues truth = opened->truth->at(monotonic_now_ns() - begin_ns);
    const std::map<std::string, double> wanted = {
        {"package_power", truth.package_w},
        {"gfx_activity", 100 * truth.gfx_activity},
        {"gfx_clock", truth.gfx_clock_mhz},
        {"gfx_clock_average", truth.gfx_clock_average_mhz},
        {"edge_temperature", truth.temperature_c},
        {"gfx_temperature", truth.temperature_c},
        {"gfx_power", truth.gfx_w},
        {"soc_power", truth.soc_w},
        {"mem_activity", 100 * truth.memory_activity},
        {"fan_speed", truth.fan_rpm}};
    std::set<std::string> seen;
    for (const auto& [source, one] : read_all(opened->sensors)) {
      const auto found = wanted.find(one.description.name);
      if (found != wanted.end()) {
        CAPTURE(source);
        seen.insert(one.description.name);
        const double step = one.description.unit == "V" ? 0.001 : 1;
        CHECK(one.value == doctest::Approx(found->second).epsilon(0.01).scale(step * 100));
      }
    }
    CHECK(seen.size() >= 6);
  }
}

TEST_CASE("sensors show an idle GPU until the registers are read, and follow them then") {
  auto opened =
      open_simulated_gpu("sim:780m:chase", regdb::RegisterDatabase::built_in(), {}, std::nullopt);
  REQUIRE(opened.has_value());
  CHECK(read_all(opened->sensors).at("simulated hwmon freq1_input").value == 400);
  std::array<std::uint32_t, sampler::kMaxRegisters> words{};
  std::array<sampler::SampleState, sampler::kMaxRegisters> states{};
  std::array<std::uint32_t, sampler::kMaxRegisters> cost_ns{};
  const std::size_t count = opened->reader->registers().size();
  opened->reader->read(monotonic_now_ns() - 10 * kNsPerSecond,
                       {std::span(words).first(count), std::span(states).first(count),
                        std::span(cost_ns).first(count)});
  CHECK(read_all(opened->sensors).at("simulated hwmon freq1_input").value == 2600);
}

TEST_CASE("files print power in 8.8 fixed point, and everything in the unit of sysfs") {
  auto opened = open_since("sim:780m:idle", 1);
  REQUIRE(opened.has_value());
  SensorValues values = opened->truth->at(0);
  values.package_w = 53 + 255 / 256.0;
  values.temperature_c = 61.4;
  values.gfx_v = 1.1234;
  values.gfx_clock_mhz = 2599.6;
  values.gfx_activity = 0.994;
  const auto text = [&](std::string_view name) {
    for (const SensorFile& file : sensor_files()) {
      if (file.file == name) {
        return file.text(*opened->truth, values);
      }
    }
    return std::string("no such file");
  };
  CHECK(text("power1_average") == "53255000\n");
  CHECK(text("power1_cap") == "54000000\n");
  CHECK(text("temp1_input") == "61000\n");
  CHECK(text("in0_input") == "1123\n");
  CHECK(text("freq1_input") == "2600000000\n");
  CHECK(text("gpu_busy_percent") == "99\n");
  CHECK(text("mem_info_vram_total") == "4294967296\n");
}

TEST_CASE("the metrics table is one that the decoder takes, in every layout") {
  auto opened = open_since("sim:780m:idle", 1);
  REQUIRE(opened.has_value());
  SensorValues values = opened->truth->at(kNsPerSecond);
  values.package_w = 51.25;
  values.gfx_activity = 0.8765;
  values.temperature_c = 60.5;
  values.dram_read_bytes_per_s = 41e9;
  struct Revision {
    std::uint8_t format = 0;
    std::uint8_t content = 0;
    regdb::GcVersion gc;
    double activity = 0;
    double power_w = 0;
  };
  for (const Revision& revision :
       {Revision{1, 3, {11, 0, 2}, 88, 51}, Revision{2, 1, {11, 0, 1}, 87.65, 51.25},
        Revision{3, 0, {11, 5, 0}, 88, 51.25}}) {
    CAPTURE(static_cast<int>(revision.format));
    const auto* layout = regdb::find_metrics_layout(revision.format, revision.content);
    REQUIRE(layout != nullptr);
    std::vector<std::byte> table(layout->size);
    write_metrics_table(*layout, values, 123, table);
    const auto units = regdb::decide_metrics_units(table, *layout, revision.gc);
    CHECK(regdb::check_metrics(table, &units).fault == regdb::MetricsFault::kNone);
    const auto value = [&](std::string_view name) {
      const auto* field = layout->find(name);
      return field == nullptr ? std::nullopt : regdb::decode_metric(table, *field, 0, units).value;
    };
    CHECK(value("average_gfx_activity").value_or(-1) == doctest::Approx(revision.activity));
    CHECK(value("average_socket_power").value_or(-1) == doctest::Approx(revision.power_w));
    if (revision.format == 3) {
      CHECK(value("average_dram_reads").value_or(-1) == doctest::Approx(41e9));
    }
    CHECK_FALSE(value("fan_pwm").has_value());
  }
}

TEST_CASE("reading all sensors ten times a second costs a small part of a core") {
  auto opened = open_since("sim:780m:chase", 100'000);
  REQUIRE(opened.has_value());
  std::vector<std::optional<double>> values(64);
  const auto read = [&](SensorReaders& readers) {
    for (const auto& reader : readers) {
      static_cast<void>(reader->read(std::span(values).first(reader->sensors().size())));
    }
  };
  // CPU time of this thread, so that a loaded machine does not count.
  const auto cpu_ns = [] {
    timespec time{};
    ::clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time);
    return time.tv_sec * kNsPerSecond + time.tv_nsec;
  };
  constexpr int kRounds = 200;
  const std::int64_t begin_ns = cpu_ns();
  for (int i = 0; i < kRounds; ++i) {
    read(opened->sensors);
    read(opened->machine_sensors);
  }
  const double core_share = static_cast<double>(cpu_ns() - begin_ns) / kRounds * 10 * 1e-9;
  MESSAGE("10 Hz cost " << 100 * core_share << " % of a core");
  CHECK(core_share < 0.02);  // of an unoptimised build, under a sanitizer too
}

}  // namespace
}  // namespace gputrace::test
