#include "cli/commands/report/stretch_sensors.h"

#include <doctest/doctest.h>

#include <string_view>
#include <vector>

#include "cli/commands/report/memory_witness.h"
#include "tests/cli/commands/report/sensor_session.h"

namespace gputrace::test {
namespace {

using analysis::TimeRange;

constexpr double kGb = 1e9;

/// Sensors of a session of 10 s.
struct Sensors {
  TempDir folder;
  std::optional<store::SessionReader> session;
  std::optional<commands::SensorSet> set;
  std::int64_t start_ns = SessionRecipe{}.start_ns;

  explicit Sensors(const std::vector<SourceRecipe>& sources) {
    SessionRecipe recipe = changing_load();
    const std::filesystem::path path = folder.path() / "s.gputrace";
    {
      auto writer = begin_session(path, recipe, sources);
      finish_session(writer, recipe);
    }
    auto opened = store::SessionReader::open(path);
    REQUIRE(opened);
    session.emplace(std::move(*opened));
    const commands::Timeline timeline =
        commands::make_timeline(start_ns, start_ns + 10 * kNsPerSecond, 64, false);
    auto loaded = commands::SensorSet::load(*session, timeline, "");
    REQUIRE(loaded);
    set.emplace(std::move(*loaded));
  }
  [[nodiscard]] TimeRange seconds(double from, double to) const {
    return {start_ns + static_cast<std::int64_t>(from * 1e9),
            start_ns + static_cast<std::int64_t>(to * 1e9)};
  }
};

const report::Sensor* named(const std::vector<report::Sensor>& sensors, std::string_view name) {
  for (const report::Sensor& sensor : sensors) {
    if (sensor.name == name) {
      return &sensor;
    }
  }
  return nullptr;
}

std::vector<SourceRecipe> apu() {
  return {{"hwmon",
           {gauge("package_power", "W", [](double at) { return at < 4 ? 20.0 : 50.0; }),
            gauge("edge_temperature", "C", always(60)),
            gauge("gfx_clock", "MHz",
                  [](double at) -> std::optional<double> {
                    return at < 6 ? std::optional(2000 + 10 * at) : std::nullopt;
                  })}},
          {"pmu amd_umc",
           {counter(
                "dram_read", "bytes",
                [](double at) { return at < 4 ? 10 * kGb * at : 40 * kGb + 50 * kGb * (at - 4); },
                "pmu amd_umc rd"),
            counter(
                "dram_write", "bytes", [](double at) { return 5 * kGb * at; }, "pmu amd_umc wr")},
           std::nullopt}};
}

TEST_CASE("each stretch has the sensors' means, extremes and totals of its own time") {
  const Sensors sensors(apu());
  const std::vector<TimeRange> stretches{sensors.seconds(0, 4), sensors.seconds(4, 8),
                                         sensors.seconds(8, 10)};
  const auto lists = commands::sensors_of_stretches(*sensors.set, stretches);
  REQUIRE(lists);
  REQUIRE(lists->size() == 3);
  CHECK(named((*lists)[0], "package_power")->mean == 20.0);
  CHECK(named((*lists)[1], "package_power")->mean == 50.0);
  CHECK(named((*lists)[0], "package_power")->samples == 40);
  CHECK(named((*lists)[2], "edge_temperature")->samples == 20);
  CHECK(named((*lists)[2], "edge_temperature")->mean == 60.0);
  CHECK(named((*lists)[1], "gfx_clock")->max.value_or(0) < 2060);
  CHECK(named((*lists)[2], "gfx_clock") == nullptr);
  const report::Sensor* read = named((*lists)[0], "dram_read");
  REQUIRE(read != nullptr);
  CHECK(read->total.value_or(0) / read->covered_s == doctest::Approx(10 * kGb).epsilon(0.001));
}

TEST_CASE("a stretch between two equal readings has their value") {
  const Sensors sensors(apu());
  const auto lists =
      commands::sensors_of_stretches(*sensors.set, std::vector{sensors.seconds(2.06, 2.14)});
  REQUIRE(lists);
  const report::Sensor* power = named(lists->at(0), "package_power");
  REQUIRE(power != nullptr);
  CHECK(power->mean == 20.0);
  CHECK(power->samples == 1);
  CHECK(named(lists->at(0), "gfx_clock") == nullptr);
}

TEST_CASE("of two sources of one quantity a stretch has the one that was read most") {
  std::vector<SourceRecipe> sources = apu();
  sources.push_back({"metrics",
                     {gauge(
                         "package_power", "W",
                         [](double at) -> std::optional<double> {
                           return at < 1 ? std::optional(99.0) : std::nullopt;
                         },
                         "another file")}});
  const Sensors sensors(sources);
  const auto lists =
      commands::sensors_of_stretches(*sensors.set, std::vector{sensors.seconds(0, 1)});
  REQUIRE(lists);
  CHECK(named(lists->at(0), "package_power")->mean == 20.0);
  CHECK(std::ranges::count_if(lists->at(0), [](const report::Sensor& sensor) {
          return sensor.name == "package_power";
        }) == 1);
}

TEST_CASE("the readings of a run are divided, and none is invented") {
  const analysis::ReadingRun run{0, 900, 10, 7};
  CHECK(commands::part_of(run, {0, 1000}).readings == 10);
  CHECK(commands::part_of(run, {0, 500}).readings == 5);
  CHECK(commands::part_of(run, {500, 1000}).readings == 5);
  CHECK(commands::part_of(run, {500, 1000}).start_ns == 500);
  CHECK(commands::part_of(run, {510, 590}).readings == 1);
  CHECK(commands::part_of({300, 300, 1, 7}, {0, 1000}).readings == 1);
}

TEST_CASE("counted bytes are a witness for any stretch, with the ceiling beside them") {
  const Sensors sensors(apu());
  auto track = commands::MemoryTrack::load(*sensors.set, sensors.start_ns);
  REQUIRE(track);
  CHECK_FALSE(track->at(1, 3)->ceiling_gbps);
  track->set_ceilings({.copy_gbps = 73, .read_gbps = 83, .source = "roofline of today"});
  const auto before = track->at(1, 3);
  REQUIRE(before);
  CHECK(before->gbps.value_or(0) == doctest::Approx(15).epsilon(0.001));
  CHECK(before->source == "pmu amd_umc");
  // Two thirds of it are reads.
  CHECK(before->ceiling_gbps.value_or(0) == doctest::Approx(73 + 10.0 / 3).epsilon(0.001));
  CHECK(before->ceiling_source == "roofline of today");
  CHECK(track->at(5, 9)->gbps.value_or(0) == doctest::Approx(55).epsilon(0.001));
  CHECK(track->at(2, 6)->gbps.value_or(0) == doctest::Approx(35).epsilon(0.01));
  CHECK_FALSE(track->at(12, 13));
}

TEST_CASE("memory activity is a witness where no bytes are counted, unless it stands still") {
  const auto activity = [](std::function<std::optional<double>(double)> value) {
    return std::vector<SourceRecipe>{{"files", {gauge("mem_activity", "%", std::move(value))}}};
  };
  const Sensors moving(activity([](double at) { return at < 5 ? 10.0 : 90.0; }));
  auto track = commands::MemoryTrack::load(*moving.set, moving.start_ns);
  REQUIRE(track);
  CHECK_FALSE(track->has_traffic());
  const auto witness = track->at(6, 9);
  REQUIRE(witness);
  CHECK_FALSE(witness->gbps);
  CHECK(witness->activity.value_or(0) == doctest::Approx(0.9));
  const Sensors stuck(activity(always(0)));
  track = commands::MemoryTrack::load(*stuck.set, stuck.start_ns);
  REQUIRE(track);
  CHECK_FALSE(track->at(6, 9));
}

TEST_CASE("a witness that was read for less than half of a stretch says nothing of it") {
  const Sensors sensors({{"files", {gauge("mem_activity", "%", [](double at) {
                            return at < 3 ? std::optional(10 + at) : std::nullopt;
                          })}}});
  const auto track = commands::MemoryTrack::load(*sensors.set, sensors.start_ns);
  REQUIRE(track);
  CHECK(track->at(0, 5));
  CHECK_FALSE(track->at(0, 8));
}

}  // namespace
}  // namespace gputrace::test
