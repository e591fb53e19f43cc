#include "cli/commands/calibration/choose_calibration.h"

#include <doctest/doctest.h>

#include <fstream>
#include <string>
#include <utility>

#include "cli/commands/calibration/load_calibration.h"
#include "cli/commands/record/keep_summary.h"
#include "cli/commands/report/report_machine.h"
#include "tests/support/change_database.h"
#include "tests/support/make_calibration.h"
#include "tests/support/temp_dir.h"

using namespace gputrace;            // NOLINT(google-build-using-namespace)
using namespace gputrace::commands;  // NOLINT(google-build-using-namespace)

namespace {

using std::filesystem::path;

constexpr std::int64_t kDayNs = 86'400 * kNsPerSecond;

/// The folder of a machine's measurements.
class Machine {
 public:
  Machine() { std::filesystem::create_directories(folder()); }
  [[nodiscard]] path folder() const { return dir_.path() / "machine"; }
  /// Made so many days after the first.
  [[nodiscard]] path add(const std::string& name, int day,
                         test::CalibrationRecipe recipe = {}) const {
    recipe.workloads = test::some_workloads();
    recipe.started_realtime_ns += day * kDayNs;
    REQUIRE(test::make_calibration(folder() / name, recipe));
    return folder() / name;
  }
  [[nodiscard]] path recording() const {
    const path file = dir_.path() / "recording.gputrace";
    REQUIRE(test::make_calibration(
        file, {.kind = store::SessionKind::kRecording, .workloads = test::some_workloads()}));
    return file;
  }
  [[nodiscard]] analysis::Conditions conditions() const {
    const auto session = store::SessionReader::open(recording());
    REQUIRE(session);
    return conditions_of(*session).value();
  }

 private:
  test::TempDir dir_;
};

std::optional<analysis::Calibration> summary_in(const path& file) {
  const auto session = store::SessionReader::open(file);
  REQUIRE(session);
  const auto summary = load_summary(*session);
  REQUIRE(summary);
  return *summary;
}

}  // namespace

TEST_CASE("the newest calibration that fits is chosen, by when it was made and not by its name") {
  const Machine machine;
  const path newest = machine.add("a.gputrace", 2);
  const path older = machine.add("c.gputrace", 0);
  const path old = machine.add("b.gputrace", 1);
  CHECK(find_calibrations(machine.folder()) == std::vector<path>{newest, old, older});
  const CalibrationChoice choice = choose_calibration(machine.folder(), machine.conditions());
  REQUIRE(choice.calibration);
  CHECK(choice.calibration->file == newest.string());
  CHECK(choice.fit.use == analysis::CalibrationUse::kAsItIs);
  CHECK(choice.refused.empty());
}

TEST_CASE("newer calibrations that do not fit are named with the reason") {
  const Machine machine;
  const path right = machine.add("right.gputrace", 0);
  const path other =
      machine.add("other.gputrace", 1, {.gpu_name = "Radeon RX 7900", .device_id = 0x744c});
  const path unmarked = machine.add("unmarked.gputrace", 2, {.marks = false});
  std::ofstream(machine.folder() / "broken.gputrace") << "no session";
  const CalibrationChoice choice = choose_calibration(machine.folder(), machine.conditions());
  REQUIRE(choice.calibration);
  CHECK(choice.calibration->file == right.string());
  REQUIRE(choice.refused.size() == 2);
  CHECK(choice.refused[0].file == unmarked);
  CHECK(choice.refused[0].why.find("no workload with busy bits") != std::string::npos);
  CHECK(choice.refused[1].file == other);
  CHECK(choice.refused[1].why.find("Radeon RX 7900") != std::string::npos);
}

TEST_CASE("without a folder, or with other measurements alone, there is no calibration") {
  const Machine machine;
  const path bench = machine.add("bench.gputrace", 0, {.kind = store::SessionKind::kBench});
  CHECK(find_calibrations(machine.folder()).empty());
  CHECK_FALSE(choose_calibration(machine.folder(), machine.conditions()).calibration);
  CHECK(find_calibrations(machine.folder() / "none").empty());
}

TEST_CASE("a recording gets a summary that says what the calibration says") {
  const Machine machine;
  const path file = machine.add("right.gputrace", 0);
  const path recording = machine.recording();
  CHECK_FALSE(summary_in(recording));
  CHECK_FALSE(keep_summary(recording, machine.folder(), std::nullopt));
  const auto summary = summary_in(recording);
  REQUIRE(summary);
  const analysis::Calibration whole = load_calibration(file).value();
  CHECK(summary->file == "right.gputrace");
  CHECK(summary->started_at == whole.started_at);
  CHECK(summary->conditions.gpu == whole.conditions.gpu);
  CHECK(summary->conditions.device_id == whole.conditions.device_id);
  CHECK(summary->conditions.driver == whole.conditions.driver);
  CHECK(summary->conditions.clock_mhz == whole.conditions.clock_mhz);
  CHECK(analysis::ridge_of(*summary) == analysis::ridge_of(whole));
  REQUIRE(summary->points.size() == whole.points.size());
  for (std::size_t i = 0; i < whole.points.size(); ++i) {
    const analysis::CalibrationPoint& copy = summary->points[i];
    const analysis::CalibrationPoint& point = whole.points[i];
    CHECK(copy.workload == point.workload);
    CHECK(copy.family == point.family);
    CHECK(copy.group_threads == point.group_threads);
    CHECK(copy.truth == point.truth);
    CHECK(copy.intensity == point.intensity);
    CHECK(copy.gbps == point.gbps);
    CHECK(copy.gflops == point.gflops);
    REQUIRE(copy.units.size() == point.units.size());
    for (std::size_t u = 0; u < point.units.size(); ++u) {
      CHECK(copy.units[u].key == point.units[u].key);
      CHECK(copy.units[u].busy == point.units[u].busy);
      REQUIRE(copy.units[u].counts);
      CHECK(copy.units[u].counts->changes == point.units[u].counts->changes);
      REQUIRE(copy.units[u].ci95);
      CHECK(copy.units[u].ci95->upper == point.units[u].ci95->upper);
    }
  }
  // The file stands alone: it can be named as a calibration itself.
  CHECK(load_calibration(recording).value().file == recording.string());
}

TEST_CASE("what keeps a summary from being copied is a note, and a misfit is nothing") {
  const Machine machine;
  const path recording = machine.recording();
  CHECK_FALSE(keep_summary(recording, machine.folder() / "none", std::nullopt));
  const path other =
      machine.add("other.gputrace", 1, {.gpu_name = "Radeon RX 7900", .device_id = 0x744c});
  CHECK_FALSE(keep_summary(recording, machine.folder(), std::nullopt));
  CHECK_FALSE(summary_in(recording));
  const path fits = machine.add("right.gputrace", 0);
  const auto note = keep_summary(recording.parent_path() / "gone", machine.folder(), std::nullopt);
  REQUIRE(note);
  CHECK(note->find("has no copy of a calibration") != std::string::npos);
}

TEST_CASE("a summary from a stranger gives what is possible of it") {
  const Machine machine;
  const path recording = machine.recording();
  store::ResultRun run;
  run.device = "AMD Radeon 780M";
  store::ResultTest test;
  test.name = "summary.evil";
  const auto value = [](std::string what, double number, std::string source) {
    store::ResultValue each;
    each.what = std::move(what);
    each.value = number;
    each.source = std::move(source);
    return each;
  };
  test.values = {
      value("busy.A.B", 2, ""),        value("busy.nodot", 0.5, ""),
      value("busy.A.C", 0.5, "5 9 1"), value("busy.A.D", 0.5, "99999999999999999999 1 1"),
      value("group", -4, ""),          value("class.nonsense", 1, ""),
      value("intensity", -1, ""),      value("unheard of", 1, "")};
  run.tests = {test};
  REQUIRE(store::append_results(recording, std::span(&run, 1)));
  const auto summary = summary_in(recording);
  REQUIRE(summary);
  REQUIRE(summary->points.size() == 1);
  const analysis::CalibrationPoint& point = summary->points[0];
  CHECK(point.group_threads == 0);
  CHECK(point.truth == analysis::Bottleneck::kUnknown);
  CHECK_FALSE(point.intensity);
  REQUIRE(point.units.size() == 2);
  CHECK_FALSE(point.units[0].counts);
  CHECK_FALSE(point.units[1].counts);
  CHECK_FALSE(summary->compute);
}

TEST_CASE("a damaged summary is refused with the reason, and costs a report nothing else") {
  const Machine machine;
  const path file = machine.add("right.gputrace", 0);
  const path recording = machine.recording();
  REQUIRE_FALSE(keep_summary(recording, machine.folder(), std::nullopt));
  std::filesystem::remove(file);
  ReportOptions options;
  options.machine_folder = machine.folder();
  const auto knowledge = [&] {
    const auto session = store::SessionReader::open(recording);
    REQUIRE(session);
    auto known = machine_knowledge(*session, conditions_of(*session).value(), options);
    REQUIRE(known);
    return std::move(*known);
  };
  CHECK(knowledge().roofline);
  test::change_database(recording, "UPDATE bench_tests SET status = 'party'");
  const MachineKnowledge damaged = knowledge();
  CHECK_FALSE(damaged.roofline);
  REQUIRE_FALSE(damaged.warnings.empty());
  CHECK(damaged.warnings.front().code == "calibration_refused");
  CHECK(damaged.warnings.front().text.find("impossible value") != std::string::npos);
}
