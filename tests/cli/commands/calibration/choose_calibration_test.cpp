#include "cli/commands/calibration/choose_calibration.h"

#include <doctest/doctest.h>
#include <unistd.h>

#include <array>
#include <chrono>
#include <fstream>
#include <string>
#include <utility>
#include <vector>

#include "cli/commands/calibration/calibration_summary.h"
#include "cli/commands/calibration/load_calibration.h"
#include "cli/commands/calibration/vulkan_driver.h"
#include "cli/commands/record/keep_summary.h"
#include "cli/commands/record/recorded_driver.h"
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
    REQUIRE(test::make_calibration(file, {.kind = store::SessionKind::kRecording,
                                          .workloads = test::some_workloads(),
                                          .driver_info = std::nullopt}));
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

vulkan::ListedDevice listed(std::string driver, std::string info, std::string pci) {
  vulkan::ListedDevice device;
  device.driver = std::move(driver);
  device.driver_info = std::move(info);
  device.pci = std::move(pci);
  return device;
}

/// A machine without a sysfs and with these drivers.
MachineDrivers drivers(const std::vector<vulkan::ListedDevice>& devices) {
  MachineDrivers machine;
  machine.roots.sys = "/nonexistent";
  machine.list = [devices] { return devices; };
  return machine;
}

MachineDrivers radv(std::string info = "Mesa 24.2.8") {
  return drivers(
      {listed("llvmpipe", "Mesa 24.2.8", ""), listed("radv", std::move(info), "0000:c4:00.0")});
}

std::optional<std::string> driver_in(const path& file) {
  const auto session = store::SessionReader::open(file);
  REQUIRE(session);
  return driver_of(*session);
}

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

TEST_CASE("calibrations of simulated GPUs are none for real ones, nor the other way round") {
  const Machine machine;
  const path file = machine.add("real.gputrace", 0);
  analysis::Conditions simulated = machine.conditions();
  simulated.simulated = true;
  const CalibrationChoice choice = choose_calibration(machine.folder(), simulated);
  CHECK_FALSE(choice.calibration);
  CHECK(choice.refused.empty());
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
  CHECK_FALSE(keep_summary(recording, machine.folder(), std::nullopt, radv()));
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
  CHECK_FALSE(keep_summary(recording, machine.folder() / "none", std::nullopt, radv()));
  const path other =
      machine.add("other.gputrace", 1, {.gpu_name = "Radeon RX 7900", .device_id = 0x744c});
  CHECK_FALSE(keep_summary(recording, machine.folder(), std::nullopt, radv()));
  CHECK_FALSE(summary_in(recording));
  const path fits = machine.add("right.gputrace", 0);
  const auto note =
      keep_summary(recording.parent_path() / "gone", machine.folder(), std::nullopt, radv());
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
  test.values = {value("busy.A", 10, "5 2,11 1,5 10,99999999999999999999 1,3,,0 0,5 2,5 2"),
                 value("busy.B", -1, "0 0"),
                 value("busy.C", 10, "5 2"),
                 value("group", -4, "sweep"),
                 value("class.nonsense", 1, ""),
                 value("intensity", -1, ""),
                 value("unheard of", 1, "")};
  store::ResultTest units;
  units.name = "summary.units";
  units.values = {value("busy.A", 8, "ok,more,changes,large,one,none,idle,last"),
                  value("busy.B", 1, "negative"), value("nothing", 1, "x")};
  run.tests = {test, units};
  REQUIRE(store::append_results(recording, std::span(&run, 1)));
  const auto summary = summary_in(recording);
  REQUIRE(summary);
  REQUIRE(summary->points.size() == 1);
  const analysis::CalibrationPoint& point = summary->points[0];
  CHECK(point.group_threads == 0);
  CHECK(point.truth == analysis::Bottleneck::kUnknown);
  CHECK_FALSE(point.intensity);
  REQUIRE(point.units.size() == 3);
  CHECK(point.units[0].key == analysis::UnitKey{"A", "ok"});
  CHECK(point.units[0].busy == 0.5);
  CHECK(point.units[1].key.name == "idle");
  CHECK(point.units[2].key.name == "last");
  CHECK(point.family == "sweep");
  CHECK_FALSE(summary->compute);
}

TEST_CASE("a damaged summary is refused with the reason, and costs a report nothing else") {
  const Machine machine;
  const path file = machine.add("right.gputrace", 0);
  const path recording = machine.recording();
  REQUIRE_FALSE(keep_summary(recording, machine.folder(), std::nullopt, radv()));
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

TEST_CASE("a calibration that kept its own summary is copied as it is counted") {
  const Machine machine;
  const path file = machine.add("right.gputrace", 0);
  const analysis::Calibration counted = load_calibration(file).value();
  const std::array runs{summary_of(counted)};
  REQUIRE(store::append_results(file, runs));
  const analysis::Calibration kept = load_kept_summary(file).value();
  CHECK(kept.file == file.string());
  CHECK(kept.conditions.driver == "radv, Mesa 24.2.8");
  CHECK(kept.points.size() == counted.points.size());
  CHECK(load_calibration(file).value().points.size() == counted.points.size());
  const path recording = machine.recording();
  CHECK_FALSE(keep_summary(recording, machine.folder(), std::nullopt, radv()));
  const auto copy = summary_in(recording);
  REQUIRE(copy);
  CHECK(copy->points[0].units[0].busy == counted.points[0].units[0].busy);
  // Of samples that are gone only the summary is left.
  test::change_database(file, "DELETE FROM blocks");
  CHECK(load_kept_summary(file));
  CHECK_FALSE(load_calibration(file));
  CHECK(load_kept_summary(file.parent_path() / "gone").error().code == ErrorCode::kNotFound);
}

TEST_CASE("a recording gets the Vulkan driver of its own GPU beside the summary") {
  const Machine machine;
  const path file = machine.add("right.gputrace", 0);
  const path recording = machine.recording();
  CHECK_FALSE(driver_in(recording));
  CHECK_FALSE(keep_summary(recording, machine.folder(), std::nullopt, radv("Mesa 25.0.1")));
  CHECK(driver_in(recording) == "radv, Mesa 25.0.1");
  CHECK(summary_in(recording)->conditions.driver == "radv, Mesa 24.2.8");
}

TEST_CASE("without an answer of Vulkan the summary is copied, and a note says why") {
  const Machine machine;
  const path file = machine.add("right.gputrace", 0);
  const auto note_with = [&](const MachineDrivers& drivers) {
    const path recording = machine.recording();
    const auto note = keep_summary(recording, machine.folder(), std::nullopt, drivers);
    CHECK(summary_in(recording));
    CHECK_FALSE(driver_in(recording));
    REQUIRE(note);
    return *note;
  };
  CHECK(note_with(drivers({listed("radv", "Mesa 24.2.8", "0000:03:00.0")}))
            .find("no Vulkan driver offers 0000:c4:00.0") != std::string::npos);
  MachineDrivers none = radv();
  none.list = []() -> Result<std::vector<vulkan::ListedDevice>> {
    return fail(ErrorCode::kNotFound, "no loader");
  };
  CHECK(note_with(none).find("no loader") != std::string::npos);
  MachineDrivers crashes = radv();
  crashes.list = []() -> Result<std::vector<vulkan::ListedDevice>> { ::_exit(3); };
  CHECK(note_with(crashes).find("which Vulkan driver") != std::string::npos);
  MachineDrivers hangs = radv();
  hangs.deadline = std::chrono::milliseconds(30);
  hangs.list = []() -> Result<std::vector<vulkan::ListedDevice>> {
    for (;;) {
      ::pause();
    }
  };
  CHECK(note_with(hangs).find("which Vulkan driver") != std::string::npos);
}

TEST_CASE("of several drivers of a GPU the calibrated one is taken, else one of its name") {
  sampler::GpuIdentity gpu;
  gpu.pci = "0000:c4:00.0";
  const auto found = [&](const std::optional<std::string>& calibrated) {
    return recorded_driver(gpu, calibrated,
                           drivers({listed("AMD proprietary", "2.0", gpu.pci),
                                    listed("radv", "Mesa 25.0.1", gpu.pci),
                                    listed("radv", "Mesa 24.2.8", gpu.pci)}))
        .value();
  };
  CHECK(found("radv, Mesa 24.2.8") == "radv, Mesa 24.2.8");
  CHECK(found("radv, Mesa 23.0.0") == "radv, Mesa 25.0.1");
  CHECK(found("amdvlk, 1") == "AMD proprietary, 2.0");
  CHECK(found(std::nullopt) == "AMD proprietary, 2.0");
}

TEST_CASE("a simulated GPU has a driver of its own, and no Vulkan is asked") {
  sampler::GpuIdentity gpu;
  gpu.simulated = true;
  MachineDrivers machine;
  machine.list = []() -> Result<std::vector<vulkan::ListedDevice>> {
    return fail(ErrorCode::kIo, "was asked");
  };
  CHECK(recorded_driver(gpu, std::nullopt, machine) == "simulated, a queueing model, no hardware");
}

TEST_CASE("a GPU that sleeps is not woken to ask for its driver") {
  const test::TempDir dir;
  const path device = dir.path() / "sys/devices/gpu";
  std::filesystem::create_directories(device / "power");
  std::filesystem::create_directories(device / "drm/card0");
  std::filesystem::create_directories(dir.path() / "sys/class/drm");
  std::filesystem::create_directory_symlink(device / "drm/card0",
                                            dir.path() / "sys/class/drm/card0");
  std::filesystem::create_directory_symlink(device, device / "drm/card0/device");
  std::ofstream(device / "vendor") << "0x1002\n";
  std::ofstream(device / "device") << "0x15bf\n";
  std::ofstream(device / "uevent") << "DRIVER=amdgpu\nPCI_SLOT_NAME=0000:03:00.0\n";
  std::ofstream(device / "power/runtime_status") << "suspended\n";
  MachineDrivers machine = radv();
  machine.roots.sys = dir.path() / "sys";
  sampler::GpuIdentity gpu;
  gpu.pci = "0000:c4:00.0";
  const auto driver = recorded_driver(gpu, std::nullopt, machine);
  REQUIRE_FALSE(driver);
  CHECK(driver.error().code == ErrorCode::kBusy);
  CHECK(driver.error().message.find("0000:03:00.0") != std::string::npos);
}
