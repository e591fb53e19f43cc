// Intervals of sensor means and frame times from batches of one recording.
#include "cli/commands/compare/batches.h"

#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "tests/cli/commands/report/sensor_session.h"

using namespace gputrace;        // NOLINT(google-build-using-namespace)
using namespace gputrace::test;  // NOLINT(google-build-using-namespace)

namespace {

struct Cut {
  report::Report report;
  commands::Batches batches;
};

Cut cut_session(const SessionRecipe& recipe, const std::vector<SourceRecipe>& sources,
                const commands::ReportOptions& options = {}) {
  const TempDir folder;
  const std::filesystem::path path = folder.path() / "s.gputrace";
  {
    store::SessionWriter writer = begin_session(path, recipe, sources);
    finish_session(writer, recipe);
  }
  Cut cut{must_report(path, options), {}};
  const Result<store::SessionReader> session = store::SessionReader::open(path);
  REQUIRE(session);
  Result<commands::Batches> batches = commands::batches_of(*session, cut.report);
  REQUIRE(batches);
  cut.batches = std::move(*batches);
  return cut;
}

SessionRecipe long_load(double seconds) {
  SessionRecipe recipe = changing_load();
  recipe.seconds = seconds;
  recipe.rate_hz = 100;
  return recipe;
}

double half(const std::optional<analysis::Interval>& interval) {
  REQUIRE(interval);
  return interval ? (interval->upper - interval->lower) / 2 : 0;
}

}  // namespace

TEST_CASE("a sensor's interval comes from the scatter of its batches") {
  // 20 batches of 2 s that alternate between 30 and 40 W: sd 5.13, t of 19 degrees 2.093.
  const auto power = [](double t) {
    return std::optional(static_cast<int>(t / 2) % 2 == 0 ? 30.0 : 40.0);
  };
  const Cut cut = cut_session(
      long_load(40), {{.name = "hwmon", .series = {gauge("package_power", "W", power, "p1")}}});
  const auto interval = cut.batches.of_sensor("package_power", "p1");
  CHECK(half(interval) == doctest::Approx(2.093 * 5.13 / std::sqrt(20)).epsilon(0.08));
  CHECK_FALSE(cut.batches.of_sensor("package_power", "p2").has_value());
}

TEST_CASE("an interval is about the mean that the report tells, whatever batches know") {
  // High in the first quarter, and there two of three readings fail: batches of little time.
  const auto power = [](double t) -> std::optional<double> {
    if (t < 10) {
      return std::fmod(t, 1.0) < 0.35 ? std::optional(90.0) : std::nullopt;
    }
    return 30.0;
  };
  const Cut cut = cut_session(
      long_load(40), {{.name = "hwmon", .series = {gauge("package_power", "W", power, "p1")}}});
  const auto interval = cut.batches.of_sensor("package_power", "p1");
  REQUIRE(interval);
  const auto told = std::find_if(cut.report.sensors.begin(), cut.report.sensors.end(),
                                 [](const report::Sensor& it) { return it.source == "p1"; });
  REQUIRE(told != cut.report.sensors.end());
  REQUIRE(told->mean);
  CHECK((interval->lower + interval->upper) / 2 == doctest::Approx(*told->mean));
  CHECK(*told->mean < 44);  // that of the batches is 45
}

TEST_CASE("a sensor that never moves is known exactly") {
  const Cut cut = cut_session(
      long_load(20), {{.name = "hwmon", .series = {gauge("gfx_clock", "MHz", always(2700))}}});
  CHECK(half(cut.batches.of_sensor("gfx_clock", "a file")) == doctest::Approx(0));
}

TEST_CASE("what is shorter than five seconds has no interval") {
  const Cut cut = cut_session(
      long_load(4), {{.name = "hwmon", .series = {gauge("gfx_clock", "MHz", always(2700))}}});
  CHECK_FALSE(cut.batches.of_sensor("gfx_clock", "a file").has_value());
}

TEST_CASE("a selection is cut, not the whole recording") {
  commands::ReportOptions options;
  options.from_s = 20;
  options.to_s = 40;
  const auto steps = [](double t) { return std::optional(t < 20 ? 10.0 : 50.0); };
  const Cut cut = cut_session(
      long_load(40), {{.name = "hwmon", .series = {gauge("package_power", "W", steps)}}}, options);
  const auto interval = cut.batches.of_sensor("package_power", "a file");
  REQUIRE(interval);
  CHECK(interval->lower == doctest::Approx(50));
}

TEST_CASE("traffic of a counter has an interval of its rate") {
  const auto bytes = [](double t) { return std::optional(30e9 * t + 1e9 * std::sin(9 * t)); };
  const Cut cut = cut_session(long_load(40),
                              {{.name = "pmu amd_umc",
                                .series = {counter("dram_read", "bytes", bytes, "pmu amd_umc rd"),
                                           counter("dram_write", "bytes", bytes, "pmu amd_umc wr")},
                                .gpu_pci = std::nullopt}});
  const double width = half(cut.batches.dram_gbps);
  CHECK(width > 0.1);
  CHECK(width < 5);
}

TEST_CASE("frames have an interval of their mean time") {
  const TempDir folder;
  const std::filesystem::path path = folder.path() / "s.gputrace";
  const SessionRecipe recipe = long_load(20);
  {
    store::SessionWriter writer = begin_session(path, recipe, {});
    std::vector<store::Frame> frames;
    for (int i = 1; i <= 1000; ++i) {
      const std::int64_t duration = i % 2 == 0 ? 15'000'000 : 21'000'000;
      frames.push_back({recipe.start_ns + i * 18'000'000LL, duration});
    }
    REQUIRE(writer.write_frames(frames));
    finish_session(writer, recipe);
  }
  const report::Report report = must_report(path);
  const Result<store::SessionReader> session = store::SessionReader::open(path);
  REQUIRE(session);
  const Result<commands::Batches> batches = commands::batches_of(*session, report);
  REQUIRE(batches);
  REQUIRE(batches->frame_time_ms);
  CHECK(batches->frame_time_ms->lower <= 18);
  CHECK(batches->frame_time_ms->upper >= 18);
  CHECK(half(batches->frame_time_ms) < 0.2);
}
