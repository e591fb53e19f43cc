// Phases of a report, from files with known loads.
#include "cli/commands/report/report_phases.h"

#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <string>
#include <vector>

#include "tests/cli/commands/report/load_session.h"
#include "tests/support/make_calibration.h"

namespace gputrace::test {
namespace {

using analysis::Bottleneck;

bool contains(const std::string& text, std::string_view part) {
  return text.find(part) != std::string::npos;
}

SessionRecipe memory_then_compute() {
  return recipe_of(all_registers(), {{6, memory_load()}, {6, compute_load()}});
}

/// With what a roofline says of the recipe's GPU.
struct Machine {
  TempDir folder;

  [[nodiscard]] commands::ReportOptions options() const {
    commands::ReportOptions options;
    options.machine_folder = folder.path();
    return options;
  }
  void add_roofline(const std::string& device,
                    const std::vector<store::ResultValue>& more = {}) const {
    store::ResultRun run = full_run();
    run.device = device;
    run.vendor_id.reset();
    run.device_id.reset();
    run.revision_id.reset();
    run.simulated = true;
    run.tests[0].values = {{"peak.fp32", 4700, 4600, 4800, "GFLOPS", "", "the points"},
                           {"dram.copy", 73, 72, 74, "GB/s", "", "the points"}};
    run.tests[0].values.insert(run.tests[0].values.end(), more.begin(), more.end());
    store::SessionDescription description;
    description.kind = store::SessionKind::kRoofline;
    description.started = TimeAnchor{0, 0, 1'790'000'000'000'000'000};
    REQUIRE(store::create_result_file(folder.path() / "roofline.gputrace",
                                      store::OnExisting::kReplace, description, {}, {&run, 1}));
  }
};

TEST_CASE("two loads are two phases that meet where the load changed") {
  const report::Report report = must_report(memory_then_compute());
  REQUIRE(report.phases.size() == 2);
  const report::Phase& first = report.phases[0];
  const report::Phase& second = report.phases[1];
  CHECK(first.start_s == doctest::Approx(0).epsilon(0.01));
  CHECK(std::abs(first.end_s - 6) < 0.03);
  CHECK(second.start_s == first.end_s);
  CHECK(second.end_s == doctest::Approx(12));
  CHECK(first.bottleneck == Bottleneck::kMemory);
  CHECK(second.bottleneck == Bottleneck::kCompute);
  CHECK(second.confidence > 0.5);
  CHECK_FALSE(first.evidence.empty());
  CHECK_FALSE(first.would_change.empty());
  CHECK(first.scenes.empty());
  CHECK_FALSE(report.machine);
  CHECK_FALSE(report.timeline);
  CHECK(contains(warning_text(report, "no_calibration"), "gputrace calibrate"));
}

TEST_CASE("a phase has the busy fractions of its own time, with both intervals") {
  const report::Report report = must_report(memory_then_compute());
  REQUIRE(report.phases.size() == 2);
  const auto memory_of = [](const report::Phase& phase) {
    const auto it = std::ranges::find_if(
        phase.units, [](const report::Unit& unit) { return unit.name == "EA_BUSY"; });
    REQUIRE(it != phase.units.end());
    return *it;
  };
  const report::Unit first = memory_of(report.phases[0]);
  CHECK(first.busy == doctest::Approx(0.96).epsilon(0.02));
  CHECK(first.register_name == "GRBM_STATUS2");
  CHECK(first.group == regdb::UnitGroup::kMemoryPath);
  CHECK(std::abs(static_cast<double>(first.samples.value_or(0)) - 6000) < 50);
  REQUIRE(first.ci95);
  REQUIRE(first.ci95_run);
  CHECK(first.ci95->lower < first.ci95_run->lower);
  CHECK(memory_of(report.phases[1]).busy == doctest::Approx(0.25).epsilon(0.1));
}

TEST_CASE("counted bytes and a roofline tell bandwidth, with the traffic of each phase") {
  const Machine machine;
  machine.add_roofline("AMD Radeon 780M");
  const report::Report report =
      report_with(memory_then_compute(), {dram_counters(6, 70, 9)}, machine.options());
  REQUIRE(report.phases.size() == 2);
  CHECK(report.phases[0].bottleneck == Bottleneck::kBandwidth);
  REQUIRE(report.phases[0].dram);
  CHECK(report.phases[0].dram->total_gbps.value_or(0) == doctest::Approx(70).epsilon(0.01));
  CHECK(report.phases[1].dram->total_gbps.value_or(0) == doctest::Approx(9).epsilon(0.01));
  REQUIRE(report.machine);
  CHECK(contains(report.machine->source, "roofline of 2026-"));
  CHECK(report.machine->roofline.ridges.front().intensity == doctest::Approx(4700.0 / 73));
  REQUIRE(report.phases[1].position);
  CHECK(report.phases[1].position->basis == analysis::PositionBasis::kDramBytes);
  CHECK(report.phases[1].position->intensity.upper.value_or(0) ==
        doctest::Approx(4700.0 / 9).epsilon(0.05));
  CHECK(contains(warning_text(report, "no_calibration"), "memory traffic alone"));
}

TEST_CASE("little traffic in spite of full memory units is latency") {
  const Machine machine;
  machine.add_roofline("AMD Radeon 780M");
  const report::Report report = report_with(recipe_of(all_registers(), {{6, memory_load()}}),
                                            {dram_counters(6, 2, 2)}, machine.options());
  REQUIRE(report.phases.size() == 1);
  CHECK(report.phases[0].bottleneck == Bottleneck::kLatency);
}

TEST_CASE("traffic above every measured roof is shown, with a warning") {
  const Machine machine;
  machine.add_roofline("AMD Radeon 780M");
  const report::Report report =
      report_with(memory_then_compute(), {dram_counters(6, 95, 9)}, machine.options());
  REQUIRE_FALSE(report.phases.empty());
  CHECK(report.phases[0].dram->total_gbps.value_or(0) == doctest::Approx(95).epsilon(0.01));
  CHECK(contains(warning_text(report, "above_roof"), "95 GB/s"));
}

TEST_CASE("a roof that a workload broke is a ceiling with a warning") {
  const Machine machine;
  const auto reached = [](double gflops) {
    return std::vector<store::ResultValue>{
        {"point.lbm.fp32.intensity", 2, {}, {}, "FLOP/B", "", ""},
        {"point.lbm.fp32.gflops", gflops, {}, {}, "GFLOPS", "", ""}};
  };
  machine.add_roofline("AMD Radeon 780M", reached(150));
  const auto warning = [&] {
    return warning_text(report_with(memory_then_compute(), {}, machine.options()), "roof_too_low");
  };
  CHECK(warning().empty());
  std::filesystem::remove(machine.folder.path() / "roofline.gputrace");
  machine.add_roofline("AMD Radeon 780M", reached(170));
  CHECK(contains(warning(), "lbm.fp32 reaches 170 GFLOPS"));
}

TEST_CASE("the roofline of another GPU is no ceiling") {
  const Machine machine;
  machine.add_roofline("AMD Radeon RX 7600");
  const report::Report report =
      report_with(memory_then_compute(), {dram_counters(6, 70, 9)}, machine.options());
  CHECK_FALSE(report.machine);
  REQUIRE_FALSE(report.phases.empty());
  CHECK(report.phases[0].bottleneck == Bottleneck::kMemory);
  CHECK(has_warning(report, "no_calibration"));
}

TEST_CASE("a calibration of another GPU is refused, with what to run") {
  const TempDir folder;
  CalibrationRecipe recipe;
  recipe.workloads = some_workloads();
  recipe.gpu_name = "AMD Radeon RX 7600";
  commands::ReportOptions options;
  options.calibration = folder.path() / "calibration.gputrace";
  REQUIRE(make_calibration(*options.calibration, recipe));
  const report::Report report = must_report(memory_then_compute(), options);
  CHECK_FALSE(report.machine);
  REQUIRE(report.phases.size() == 2);
  CHECK_FALSE(report.phases[0].position);
  const std::string warning = warning_text(report, "calibration_refused");
  CHECK(contains(warning, "calibration.gputrace is not used"));
  CHECK(contains(warning, "RX 7600"));
  CHECK(contains(warning, "gputrace calibrate"));
}

TEST_CASE("a calibration that was asked for and cannot be read is an error") {
  commands::ReportOptions options;
  options.calibration = "/nonexistent/calibration.gputrace";
  const TempDir folder;
  REQUIRE(make_session(folder.path() / "s.gputrace", memory_then_compute()));
  CHECK_FALSE(report_of(folder.path() / "s.gputrace", options));
}

TEST_CASE("scenes are there when they are asked for, inside their phases") {
  SessionRecipe recipe =
      recipe_of(all_registers(), {{6, compute_load()}, {6, [] {
                                                          Load load = compute_load();
                                                          load["EA_BUSY"] = 0.45;
                                                          load["GL2CC_BUSY"] = 0.45;
                                                          return load;
                                                        }()}});
  commands::ReportOptions options;
  options.scenes = true;
  const report::Report report = report_with(recipe, {dram_counters(6, 9, 20)}, options);
  REQUIRE(report.phases.size() == 1);
  const report::Phase& phase = report.phases[0];
  REQUIRE(phase.scenes.size() == 2);
  CHECK(phase.scenes[0].start_s == phase.start_s);
  CHECK(phase.scenes[1].end_s == phase.end_s);
  CHECK(phase.scenes[0].dram->total_gbps.value_or(0) == doctest::Approx(9).epsilon(0.01));
  CHECK(phase.scenes[1].dram->total_gbps.value_or(0) == doctest::Approx(20).epsilon(0.01));
}

TEST_CASE("a selection has the phases of its own time") {
  commands::ReportOptions options;
  options.from_s = 4;
  options.to_s = 8.25;
  const report::Report report = must_report(memory_then_compute(), options);
  REQUIRE(report.phases.size() == 2);
  CHECK(report.phases[0].start_s == doctest::Approx(4));
  CHECK(std::abs(report.phases[0].end_s - 6) < 0.03);
  CHECK(report.phases[1].end_s == doctest::Approx(8.25));
}

TEST_CASE("the time line has a code a window and unit, and sensors by second") {
  commands::ReportOptions options;
  options.timeline = true;
  const SourceRecipe power{
      "hwmon",
      {gauge("package_power", "W", [](double at) { return at < 6 ? 20.0 : 40.0; }),
       gauge("power_cap", "W", always(54)), gauge("core_power_0", "W", always(3))}};
  const report::Report report =
      report_with(memory_then_compute(), {power, dram_counters(6, 70, 9)}, options);
  REQUIRE(report.timeline);
  const report::Timeline& timeline = *report.timeline;
  CHECK(timeline.window_s == doctest::Approx(0.1));
  CHECK(timeline.windows == 120);
  const auto row = std::ranges::find_if(timeline.rows, [&](const report::HeatRow& each) {
    return report.units[each.unit].name == "EA_BUSY";
  });
  REQUIRE(row != timeline.rows.end());
  CHECK(row->codes.size() == 120);
  CHECK(row->codes[10] > 50);
  CHECK(row->codes[100] < 30);
  CHECK(std::ranges::none_of(timeline.rows, [&](const report::HeatRow& each) {
    return report.units[each.unit].name == "SC_BUSY";
  }));
  CHECK(timeline.sensor_window_s == 1);
  REQUIRE(timeline.tracks.size() == 2);
  CHECK(timeline.tracks[0].name == "package_power");
  CHECK(timeline.tracks[0].limit == 54.0);
  CHECK(timeline.tracks[0].mean.at(2) == 20.0F);
  CHECK(timeline.tracks[0].max.at(11) == 40.0F);
  CHECK(timeline.tracks[1].name == "dram_traffic");
  CHECK(timeline.tracks[1].mean.at(2).value_or(0) == doctest::Approx(70).epsilon(0.01));
}

TEST_CASE("windows of the time line grow with the recording, in steps of 1, 2 and 5") {
  SessionRecipe recipe = recipe_of({"GRBM_STATUS"}, {{3700, {}}});
  recipe.rate_hz = 10;
  recipe.word = [](std::size_t, std::size_t tick) { return tick % 2 == 0 ? 0x80000000U : 0U; };
  commands::ReportOptions options;
  options.timeline = true;
  const report::Report report = must_report(recipe, options);
  REQUIRE(report.timeline);
  CHECK(report.timeline->window_s == doctest::Approx(0.2));
  CHECK(report.timeline->windows == 18'500);
  CHECK(report.timeline->sensor_window_s == 2);
}

}  // namespace
}  // namespace gputrace::test
