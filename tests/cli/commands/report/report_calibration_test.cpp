// What a report makes of a calibration of another clock, power level or driver, and of one that
// tells no positions.
#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>
#include <string>
#include <vector>

#include "cli/report/render_text.h"
#include "tests/cli/commands/report/session_reports.h"
#include "tests/support/make_calibration.h"

namespace gputrace::test {
namespace {

/// A sweep over 1, 4, 16, 64, 256 and 512 FLOP/B: the ridge is at 64.
std::vector<WorkloadRecipe> sweep() {
  std::vector<WorkloadRecipe> workloads;
  const auto add = [&](double intensity, double gflops, double ea_busy) {
    WorkloadRecipe workload;
    workload.label = "sweep.n" + std::to_string(static_cast<int>(4 * intensity)) + ".g256";
    workload.flops = 128 * intensity;
    workload.median = gflops;
    workload.ea_busy = ea_busy;
    workloads.push_back(workload);
  };
  add(1, 73, 0.96);
  add(4, 292, 0.96);
  add(16, 1168, 0.96);
  add(64, 4672, 0.9);
  add(256, 4672, 0.5);
  add(512, 4672, 0.3);
  return workloads;
}

/// Files of one GPU: a calibration, and recordings of a load as at 256 FLOP/B.
class Machine {
 public:
  explicit Machine(CalibrationRecipe calibration = {}) {
    if (calibration.workloads.empty()) {
      calibration.workloads = sweep();
    }
    options_.calibration = folder_.path() / "calibration.gputrace";
    REQUIRE(make_calibration(*options_.calibration, calibration));
  }
  [[nodiscard]] report::Report report(CalibrationRecipe recording = {}) const {
    recording.kind = store::SessionKind::kRecording;
    recording.workloads.assign(4, WorkloadRecipe{.ea_busy = 0.5});
    const std::filesystem::path file = folder_.path() / "recording.gputrace";
    REQUIRE(make_calibration(file, recording));
    return must_report(file, options_);
  }

 private:
  TempDir folder_;
  commands::ReportOptions options_;
};

bool contains(const std::string& text, std::string_view part) {
  return text.find(part) != std::string::npos;
}

std::string warning_text(const report::Report& report, std::string_view code) {
  const auto found = std::ranges::find(report.warnings, code, &report::Warning::code);
  return found == report.warnings.end() ? "" : found->text;
}

analysis::Range of_ridge(const report::Report& report) {
  REQUIRE(report.phases.size() == 1);
  REQUIRE(report.phases[0].position);
  return report.phases[0].position->of_ridge;
}

double lower_octave(const report::Report& report) {
  const analysis::Range range = of_ridge(report);
  REQUIRE(range.lower);
  return std::log2(*range.lower);
}

TEST_CASE("a calibration of this GPU, driver and clock gives positions, and is named with all") {
  const report::Report report = Machine().report();
  const analysis::Range range = of_ridge(report);
  CHECK(range.lower.value_or(9) < 4);
  CHECK(range.lower.value_or(0) > 0.5);
  REQUIRE(report.machine);
  CHECK(contains(report.machine->source, "calibration of 2026-"));
  CHECK(contains(report.machine->source, "(radv, Mesa 24.2.8)"));
  CHECK(report.machine->fit.use == analysis::CalibrationUse::kAsItIs);
  CHECK(report.machine->fit.why == "calibrated at 2650 MHz, recorded at 2600 MHz");
  for (const char* code :
       {"calibration_driver", "calibration_scaled", "calibration_flat", "calibration_refused"}) {
    CHECK_FALSE(has_warning(report, code));
  }
}

TEST_CASE("a calibration of another driver keeps its positions, wider and with a warning") {
  const Machine machine;
  const report::Report same = machine.report();
  const report::Report other = machine.report({.driver_info = "Mesa 25.0.1"});
  CHECK(lower_octave(other) <= lower_octave(same) - 0.2);
  CHECK(contains(warning_text(other, "calibration_driver"), "radv, Mesa 24.2.8"));
  CHECK(contains(warning_text(other, "calibration_driver"), "radv, Mesa 25.0.1"));
  const std::string text = report::render_text(other, {});
  CHECK(contains(text, "Mesa 25.0.1"));
}

TEST_CASE("a recording that does not know its driver says so, and keeps its positions") {
  const Machine machine;
  const report::Report same = machine.report();
  const report::Report unknown = machine.report({.driver_info = std::nullopt});
  CHECK(lower_octave(unknown) == lower_octave(same));
  CHECK_FALSE(has_warning(unknown, "calibration_driver"));
  REQUIRE(unknown.machine);
  CHECK(contains(unknown.machine->fit.why, "the recording's driver is not known"));
}

TEST_CASE("a calibration of another clock is scaled, with wider positions and the numbers") {
  const Machine machine;
  const report::Report same = machine.report();
  const report::Report slower = machine.report({.clock_mhz = 1900, .power_w = 25});
  REQUIRE(slower.machine);
  CHECK(slower.machine->fit.use == analysis::CalibrationUse::kScaled);
  CHECK(lower_octave(slower) < lower_octave(same));
  const std::string warning = warning_text(slower, "calibration_scaled");
  CHECK(contains(warning, "2650 MHz"));
  CHECK(contains(warning, "1900 MHz"));
  // The ridge lies lower by the ratio of the clocks.
  const auto& position = *slower.phases[0].position;
  CHECK(*position.intensity.lower / *position.of_ridge.lower ==
        doctest::Approx(64.0 * 1900 / 2650));
}

TEST_CASE("a calibration of half the clock at another power is refused, and nothing is placed") {
  const report::Report report = Machine().report({.clock_mhz = 1200, .power_w = 15});
  CHECK_FALSE(report.machine);
  REQUIRE(report.phases.size() == 1);
  CHECK_FALSE(report.phases[0].position);
  const std::string warning = warning_text(report, "calibration_refused");
  CHECK(contains(warning, "calibration.gputrace is not used"));
  CHECK(contains(warning, "1200 MHz"));
}

TEST_CASE("a calibration in which no unit moves gives ceilings, and says that it places nothing") {
  std::vector<WorkloadRecipe> flat = sweep();
  for (WorkloadRecipe& workload : flat) {
    workload.ea_busy = 0.9;
  }
  const report::Report report = Machine({.workloads = flat}).report();
  REQUIRE(report.machine);
  CHECK(report.machine->roofline.ridges.front().intensity == doctest::Approx(64));
  REQUIRE(report.phases.size() == 1);
  CHECK_FALSE(report.phases[0].position);
  CHECK(contains(warning_text(report, "calibration_flat"), "no unit of the calibration of 2026-"));
}

}  // namespace
}  // namespace gputrace::test
