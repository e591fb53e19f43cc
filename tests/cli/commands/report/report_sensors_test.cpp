// Sensors, energy and DRAM traffic of reports of session files.
#include <doctest/doctest.h>

#include <cmath>
#include <filesystem>
#include <string>

#include "cli/report/render_json.h"
#include "cli/report/render_text.h"
#include "tests/cli/commands/report/sensor_session.h"
#include "tests/support/golden.h"

using namespace gputrace;        // NOLINT(google-build-using-namespace)
using namespace gputrace::test;  // NOLINT(google-build-using-namespace)

namespace {

constexpr const char* kBoth = "CPU and GPU together";

SeriesRecipe apu_power(std::function<std::optional<double>(double)> value) {
  SeriesRecipe power = gauge("package_power", "W", std::move(value), "hwmon power1_average");
  power.description.covers = kBoth;
  power.description.label = "PPT";
  return power;
}

SourceRecipe rapl(double watts) {
  return {
      .name = "pmu power energy-pkg",
      .series = {counter(
          "package_energy", "J", [watts](double t) { return watts * t; }, "pmu power energy-pkg")},
      .gpu_pci = std::nullopt};
}

SourceRecipe umc(double read_gbps, double write_gbps) {
  const auto moving = [](double gbps) { return [gbps](double t) { return gbps * 1e9 * t; }; };
  SeriesRecipe read = counter("dram_read", "bytes", moving(read_gbps), "pmu amd_umc rd");
  SeriesRecipe write = counter("dram_write", "bytes", moving(write_gbps), "pmu amd_umc wr");
  read.description.covers = write.description.covers = kBoth;
  return {.name = "pmu amd_umc", .series = {read, write}, .gpu_pci = std::nullopt};
}

/// 20 W in the first half, 40 W in the second.
std::optional<double> steps(double t) {
  return t < 5 ? 20 : 40;
}

commands::ReportOptions from_to(double from, double to) {
  commands::ReportOptions options;
  options.from_s = from;
  options.to_s = to;
  return options;
}

}  // namespace

TEST_CASE("gauges get mean, range and n; their source and what they cover stay") {
  const report::Report report = report_with(
      changing_load(),
      {{.name = "hwmon", .series = {apu_power(steps), gauge("gfx_clock", "MHz", always(2700))}}});
  const report::Sensor* power = find_sensor(report, "package_power");
  REQUIRE(power != nullptr);
  CHECK(power->mean.value_or(0) == doctest::Approx(30));
  CHECK(power->min == 20);
  CHECK(power->max == 40);
  CHECK(power->samples == 100);
  CHECK(power->covered_s == doctest::Approx(10));
  CHECK(power->source == "hwmon power1_average");
  CHECK(power->label == "PPT");
  CHECK(power->covers == kBoth);
  CHECK_FALSE(power->of_machine);
}

TEST_CASE("a selection has its own mean, range, energy and traffic") {
  const std::vector<SourceRecipe> sources{{.name = "hwmon", .series = {apu_power(steps)}},
                                          umc(30, 10)};
  const report::Report report = report_with(changing_load(), sources, from_to(6, 9));
  const report::Sensor* power = find_sensor(report, "package_power");
  REQUIRE(power != nullptr);
  CHECK(power->mean.value_or(0) == doctest::Approx(40));
  CHECK(power->min == 40);
  CHECK(power->samples == doctest::Approx(30).epsilon(0.05));
  REQUIRE(report.energy.size() == 1);
  CHECK(report.energy[0].joules == doctest::Approx(120).epsilon(0.02));
  CHECK(report.energy[0].covered_s == doctest::Approx(3).epsilon(0.02));
  REQUIRE(report.dram);
  CHECK(report.dram->total_gbps.value_or(0) == doctest::Approx(40));
}

TEST_CASE("power times time is energy over the time that readings speak for") {
  // Reads fail from 2 s to 4 s.
  const auto gap = [](double t) -> std::optional<double> {
    return t > 2 && t < 4 ? std::nullopt : std::optional(30.0 + std::floor(10 * t) * 0.001);
  };
  const report::Report report =
      report_with(changing_load(), {{.name = "hwmon", .series = {apu_power(gap)}}});
  REQUIRE(report.energy.size() == 1);
  CHECK_FALSE(report.energy[0].counted);
  CHECK(report.energy[0].covered_s == doctest::Approx(8).epsilon(0.01));
  CHECK(report.energy[0].joules == doctest::Approx(8 * 30.05).epsilon(0.01));
  CHECK(report::render_text(report, {}).find("8.0 s of 10.0 s, the rest is not known") !=
        std::string::npos);
}

TEST_CASE("on an APU one counter stands for the package: nothing is added up") {
  const report::Report report = report_with(
      changing_load(), {{.name = "hwmon",
                         .series = {apu_power(always(31)), gauge("gfx_power", "W", always(20)),
                                    gauge("cpu_power", "W", always(10))}},
                        rapl(30)});
  REQUIRE(report.energy.size() == 1);
  CHECK(report.energy[0].counted);
  CHECK(report.energy[0].joules == doctest::Approx(30 * 9.9));
  CHECK(report.energy[0].covered_s == doctest::Approx(9.9));
  CHECK(report.energy[0].covers == kBoth);
  CHECK(report.energy[0].source == "pmu power energy-pkg");
}

TEST_CASE("a card and a CPU have energies of their own") {
  const report::Report report = report_with(
      changing_load(),
      {{.name = "hwmon", .series = {gauge("package_power", "W", always(200))}}, rapl(30)});
  REQUIRE(report.energy.size() == 2);
  CHECK(report.energy[0].joules == doctest::Approx(2000));
  CHECK(report.energy[0].covers.empty());
  CHECK(report.energy[1].joules == doctest::Approx(297));
  CHECK(report.energy[1].covers == "CPU");
}

TEST_CASE("DRAM traffic is counted, split and labelled; rates of the firmware come second") {
  const SourceRecipe rates{.name = "gpu_metrics",
                           .series = {gauge("dram_read_rate", "bytes/s", always(3e9)),
                                      gauge("dram_write_rate", "bytes/s", always(1e9))}};
  report::Report report = report_with(changing_load(), {rates, umc(50, 21)});
  REQUIRE(report.dram);
  CHECK(report.dram->read_gbps.value_or(0) == doctest::Approx(50));
  CHECK(report.dram->write_gbps.value_or(0) == doctest::Approx(21));
  CHECK(report.dram->total_gbps.value_or(0) == doctest::Approx(71));
  CHECK(report.dram->covers == kBoth);
  report = report_with(changing_load(), {rates});
  REQUIRE(report.dram);
  CHECK(report.dram->total_gbps.value_or(0) == doctest::Approx(4));
  const SourceRecipe fabric{
      .name = "pmu amd_df",
      .series = {counter("dram_traffic", "bytes", [](double t) { return 9e9 * t; })},
      .gpu_pci = std::nullopt};
  report = report_with(changing_load(), {fabric, rates});
  REQUIRE(report.dram);
  CHECK_FALSE(report.dram->read_gbps);
  CHECK(report.dram->total_gbps.value_or(0) == doctest::Approx(9));
}

TEST_CASE("a counter that never moves is no traffic of 0, and says so") {
  const report::Report report = report_with(changing_load(), {umc(0, 0)});
  CHECK_FALSE(report.dram);
  CHECK(warning_text(report, "counter_stuck").find("never moved") != std::string::npos);
  CHECK_FALSE(has_warning(report_with(changing_load(), {umc(1, 1)}), "counter_stuck"));
}

TEST_CASE("a counter that was reset says less, never something negative") {
  const SourceRecipe reset{
      .name = "pmu",
      .series = {counter("package_energy", "J", [](double t) { return 10 * (t < 5 ? t : t - 5); })},
      .gpu_pci = std::nullopt};
  const report::Report report = report_with(changing_load(), {reset});
  const report::Sensor* energy = find_sensor(report, "package_energy");
  REQUIRE(energy != nullptr);
  CHECK(energy->total.value_or(-1) == doctest::Approx(98));
  CHECK(energy->covered_s == doctest::Approx(9.8));
  CHECK(energy->resets == 1);
}

TEST_CASE("a source that was opened anew is one sensor") {
  const SourceRecipe power{.name = "hwmon", .series = {apu_power(always(10))}};
  const report::Report report = report_with(changing_load(), {power, power});
  CHECK(report.sensors.size() == 1);
  CHECK(report.sensor_sources.size() == 1);
  CHECK(report.sensors[0].samples == 200);
  CHECK(report.sensors[0].mean.value_or(0) == doctest::Approx(10));
}

TEST_CASE("sensors of another GPU are in no number") {
  const report::Report report =
      report_with(changing_load(),
                  {{.name = "hwmon", .series = {apu_power(always(10))}, .gpu_pci = "0000:c4:00.0"},
                   {.name = "hwmon", .series = {apu_power(always(99))}, .gpu_pci = "0000:03:00.0"},
                   rapl(12)},
                  {}, "0000:c4:00.0");
  REQUIRE(report.sensors.size() == 2);
  CHECK(report.sensors[0].max == 10);
  CHECK(report.sensors[1].of_machine);
}

TEST_CASE("a GPU without an address owns what does not belong to a machine by its kind") {
  SourceRecipe power{.name = "simulated hwmon amdgpu power1_average",
                     .series = {apu_power(always(30))},
                     .gpu_pci = std::nullopt};
  SourceRecipe energy = rapl(30);
  energy.name = "simulated pmu power energy-pkg";
  report::Report report = report_with(changing_load(), {power, energy});
  REQUIRE(report.sensors.size() == 2);
  CHECK_FALSE(report.sensors[0].of_machine);
  CHECK(report.sensors[1].of_machine);
  REQUIRE(report.energy.size() == 1);
  CHECK(report.energy[0].covers == kBoth);
  report = report_with(changing_load(), {power}, {}, "0000:c4:00.0");
  CHECK(report.sensors[0].of_machine);
}

TEST_CASE("series without a reading are listed without values") {
  const auto nothing = [](double) -> std::optional<double> { return std::nullopt; };
  const report::Report report = report_with(
      changing_load(), {{.name = "hwmon", .series = {apu_power(nothing), bits("b", nothing)}}});
  REQUIRE(report.sensors.size() == 2);
  CHECK_FALSE(report.sensors[0].mean);
  CHECK(report.sensors[0].samples == 0);
  CHECK_FALSE(report.sensors[1].bits_ever);
  CHECK(report.energy.empty());
  CHECK_FALSE(report.dram);
  CHECK_FALSE(report.throttling);
  CHECK(report::render_text(report, {}).find("0.0 W") == std::string::npos);
}

TEST_CASE("a file of version 1 has no sensors, and the report is as before") {
  const report::Report report =
      must_report(std::filesystem::path(GPUTRACE_FIXTURES) / "sessions/version_1.gputrace");
  CHECK_FALSE(report.units.empty());
  CHECK(report.sensors.empty());
  CHECK(report.energy.empty());
  CHECK(report.processes.empty());
  CHECK_FALSE(report.frames);
  CHECK_FALSE(has_warning(report, "no_dram_traffic"));
  CHECK(report::render_text(report, {}).find("Sensors") == std::string::npos);
}

TEST_CASE("text and JSON of a session with sensors look as agreed") {
  SessionRecipe recipe = changing_load();
  recipe.simulated = true;
  const auto wave = [](double t) { return 2000 + 500 * std::floor(t / 2) / 4; };
  const report::Report report = report_with(
      recipe,
      {{.name = "hwmon amdgpu power1_average",
        .series = {apu_power(steps)},
        .totals =
            {.reads = 100, .cost_ns = 4'000'000, .worst_ns = 90'000, .rate_hz = 10, .problem = ""}},
       {.name = "gpu_metrics",
        .series = {gauge("gfx_clock", "MHz", wave, "gpu_metrics current_gfxclk"),
                   bits("throttle_status", always(0))},
        .totals = {.reads = 100,
                   .cost_ns = 40'000'000,
                   .worst_ns = 900'000,
                   .rate_hz = 10,
                   .problem = ""}},
       rapl(29.5),
       umc(50, 21)});
  test::check_golden("report_sensors.txt", report::render_text(report, {}));
  test::check_golden("report_sensors_ascii.txt",
                     report::render_text(report, {.colour = false, .ascii = true}));
  test::check_golden("report_sensors.json", report::render_json(report));
}
