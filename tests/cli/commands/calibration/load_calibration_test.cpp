#include "cli/commands/calibration/load_calibration.h"

#include <doctest/doctest.h>

#include <algorithm>
#include <string>

#include "cli/commands/calibration/choose_calibration.h"
#include "tests/support/error_text.h"
#include "tests/support/make_calibration.h"
#include "tests/support/temp_dir.h"

using namespace gputrace;            // NOLINT(google-build-using-namespace)
using namespace gputrace::commands;  // NOLINT(google-build-using-namespace)

namespace {

using analysis::Bottleneck;
using analysis::BusyUnit;
using analysis::Calibration;
using analysis::CalibrationPoint;
using test::CalibrationRecipe;
using test::WorkloadRecipe;

Calibration load(const CalibrationRecipe& recipe) {
  const test::TempDir dir;
  const auto file = dir.path() / "a.gputrace";
  const Status made = test::make_calibration(file, recipe);
  REQUIRE_MESSAGE(made, test::error_text(made));
  Result<Calibration> loaded = load_calibration(file);
  REQUIRE_MESSAGE(loaded, test::error_text(loaded));
  CHECK(loaded->file == file.string());
  return std::move(*loaded);
}

Error refused(const CalibrationRecipe& recipe) {
  const test::TempDir dir;
  const auto file = dir.path() / "a.gputrace";
  REQUIRE(test::make_calibration(file, recipe));
  const Result<Calibration> loaded = load_calibration(file);
  REQUIRE_FALSE(loaded);
  CHECK(loaded.error().message.find(file.string()) != std::string::npos);
  return loaded.error();
}

double busy(const CalibrationPoint& point, const std::string& name) {
  const auto unit =
      std::ranges::find(point.units, name, [](const BusyUnit& each) { return each.key.name; });
  REQUIRE(unit != point.units.end());
  return unit->busy;
}

WorkloadRecipe workload(std::string test, std::string unit, std::string label, double median,
                        double flops, std::optional<double> dram_bytes) {
  WorkloadRecipe recipe;
  recipe.test = std::move(test);
  recipe.unit = std::move(unit);
  recipe.label = std::move(label);
  recipe.median = median;
  recipe.flops = flops;
  recipe.dram_bytes = dram_bytes;
  return recipe;
}

}  // namespace

TEST_CASE("each workload has the busy fractions of its own time") {
  const Calibration calibration = load({.workloads = test::some_workloads()});
  REQUIRE(calibration.points.size() == 3);
  CHECK(busy(calibration.points[0], "EA_BUSY") == doctest::Approx(0.9).epsilon(0.01));
  CHECK(busy(calibration.points[1], "EA_BUSY") == doctest::Approx(0.4).epsilon(0.01));
  CHECK(busy(calibration.points[2], "EA_BUSY") == doctest::Approx(0.6).epsilon(0.01));
  for (const CalibrationPoint& point : calibration.points) {
    CHECK(busy(point, "GUI_ACTIVE") == 1);
    for (const BusyUnit& unit : point.units) {
      REQUIRE(unit.counts);
      CHECK(unit.counts->samples > 990);
      CHECK(unit.counts->samples <= 1000);
      CHECK(unit.ci95);
    }
  }
}

TEST_CASE("rates and intensity follow from the stimulus and the figure") {
  const Calibration calibration = load({.workloads = test::some_workloads()});
  const CalibrationPoint& memory = calibration.points[0];
  CHECK(memory.workload == "sweep.n4.g256");
  CHECK(memory.family == "sweep");
  CHECK(memory.group_threads == 256);
  CHECK(memory.intensity == 1);
  CHECK(memory.gflops == 73);
  CHECK(memory.gbps == 73);
  CHECK(memory.power_w == 34.5);
  CHECK(calibration.points[1].intensity == 256);
  CHECK(calibration.points[1].gbps == doctest::Approx(18.25));
  const CalibrationPoint& chase = calibration.points[2];
  CHECK(chase.gbps == 0.3);
  CHECK_FALSE(chase.gflops);
  CHECK_FALSE(chase.intensity);
}

TEST_CASE("ceilings are the best of the workloads, and conditions those of its time") {
  const Calibration calibration = load({.workloads = test::some_workloads()});
  REQUIRE(calibration.compute);
  CHECK(calibration.compute->value == 4672);
  CHECK(calibration.compute->lower == doctest::Approx(4672 * 0.98));
  REQUIRE(calibration.bandwidth);
  CHECK(calibration.bandwidth->value == 73);
  CHECK(calibration.conditions.gpu == "AMD Radeon 780M");
  CHECK(calibration.conditions.device_id == 0x15bf);
  CHECK(calibration.conditions.driver == "radv, Mesa 24.2.8");
  CHECK(calibration.conditions.clock_mhz == 2600);
  CHECK(calibration.conditions.power_w == 35);
  CHECK(calibration.started_at == "2026-09-21T14:13:20.000Z");
}

TEST_CASE("what limits a workload is told by how it is made and by its rate") {
  std::vector<WorkloadRecipe> workloads = test::some_workloads();
  const auto truth = [&](const WorkloadRecipe& recipe) {
    std::vector<WorkloadRecipe> all = workloads;
    all.push_back(recipe);
    return load({.workloads = all}).points.back().truth;
  };
  CHECK(load({.workloads = workloads}).points[0].truth == Bottleneck::kBandwidth);
  CHECK(load({.workloads = workloads}).points[1].truth == Bottleneck::kCompute);
  CHECK(load({.workloads = workloads}).points[2].truth == Bottleneck::kLatency);
  // Near the ridge, below both ceilings.
  CHECK(truth(workload("calibration.sweep", "GFLOPS", "near", 3300, 7000, 128)) ==
        Bottleneck::kMixed);
  // Few groups: neither ceiling is near.
  CHECK(truth(workload("calibration.sweep", "GFLOPS", "few", 20, 128, 128)) ==
        Bottleneck::kUnknown);
  CHECK(truth(workload("calibration.bandwidth", "GB/s", "read", 80, 0, 64)) ==
        Bottleneck::kBandwidth);
  CHECK(truth(workload("calibration.bandwidth", "GB/s", "few", 20, 0, 64)) == Bottleneck::kMemory);
  CHECK(truth(workload("calibration.occupancy", "GB/s", "t64", 5, 0, std::nullopt)) ==
        Bottleneck::kLatency);
  CHECK(truth(workload("calibration.atomics", "Gop/s", "add", 5, 0, std::nullopt)) ==
        Bottleneck::kUnknown);
  CHECK(truth(workload("calibration.texture", "GTexel/s", "texture.rgba8.coherent.nearest.64", 99,
                       0, std::nullopt)) == Bottleneck::kTexture);
  CHECK(truth(workload("calibration.texture", "GTexel/s", "texture.rgba8.random.nearest.4096", 1, 0,
                       std::nullopt)) == Bottleneck::kMemory);
  workloads.push_back(workload("calibration.fill", "GPixel/s", "t0", 20, 0, 4));
  CHECK(load({.workloads = workloads}).points.back().truth == Bottleneck::kRaster);
  CHECK(truth(workload("calibration.fill", "GPixel/s", "t32", 1, 4000, 4)) == Bottleneck::kCompute);
}

TEST_CASE(
    "a point whose proof failed is suspect and no ceiling; one without a figure is left out") {
  std::vector<WorkloadRecipe> workloads = test::some_workloads();
  workloads[1].status = store::ResultStatus::kSuspect;
  workloads[2].status = store::ResultStatus::kSkipped;
  const Calibration calibration = load({.workloads = workloads});
  REQUIRE(calibration.points.size() == 2);
  CHECK_FALSE(calibration.points[0].suspect);
  CHECK(calibration.points[1].suspect);
  REQUIRE(calibration.compute);
  CHECK(calibration.compute->value == 73);
}

TEST_CASE("tests that are none of a calibration are no points of it") {
  std::vector<WorkloadRecipe> workloads = test::some_workloads();
  workloads[2].test = "validation.lbm";
  CHECK(load({.workloads = workloads}).points.size() == 2);
}

TEST_CASE("a stimulus that gputrace does not write gives no rates and no busy bits") {
  for (const char* text :
       {"[]", "3", "{\"flops\":\"many\"}", "{\"flops\":-1}", "{\"flops\":1e999}"}) {
    std::vector<WorkloadRecipe> workloads = test::some_workloads();
    workloads[0].stimulus = text;
    const Calibration calibration = load({.workloads = workloads});
    REQUIRE(calibration.points.size() == 3);
    CHECK_FALSE(calibration.points[0].intensity);
    CHECK(calibration.points[0].truth != Bottleneck::kBandwidth);
  }
}

TEST_CASE("files that cannot calibrate say why and how one is made") {
  CHECK(refused({.workloads = test::some_workloads(), .samples = false}).code ==
        ErrorCode::kInvalidArgument);
  const Error unmarked = refused({.workloads = test::some_workloads(), .marks = false});
  CHECK(unmarked.message.find("no workload with busy bits") != std::string::npos);
  CHECK(unmarked.message.find("gputrace calibrate") != std::string::npos);
  CHECK(refused({.kind = store::SessionKind::kBench, .workloads = test::some_workloads()}).code ==
        ErrorCode::kInvalidArgument);
  CHECK(refused({.kind = store::SessionKind::kRecording, .workloads = test::some_workloads()})
            .message.find("no summary") != std::string::npos);
  std::vector<WorkloadRecipe> suspect = test::some_workloads();
  for (WorkloadRecipe& each : suspect) {
    each.status = store::ResultStatus::kSuspect;
  }
  CHECK(refused({.workloads = suspect}).code == ErrorCode::kInvalidArgument);
  const test::TempDir dir;
  CHECK(load_calibration(dir.path() / "none").error().code == ErrorCode::kNotFound);
}

TEST_CASE("clock and power are those under load") {
  const test::TempDir dir;
  const auto file = dir.path() / "a.gputrace";
  REQUIRE(test::make_calibration(
      file, {.workloads = test::some_workloads(), .clock_mhz = std::nullopt, .power_w = 12}));
  const auto session = store::SessionReader::open(file);
  REQUIRE(session);
  const Result<analysis::Conditions> conditions = conditions_of(*session);
  REQUIRE(conditions);
  CHECK_FALSE(conditions->clock_mhz);
  CHECK(conditions->power_w == 12);
  CHECK_FALSE(conditions->simulated);
}

TEST_CASE("a file that claims to hold years has conditions, and takes no more memory than others") {
  const test::TempDir dir;
  const auto file = dir.path() / "years.gputrace";
  constexpr std::size_t kTicks = 1000;
  constexpr std::size_t kThirtyYears = std::size_t{946'080'000} * kTicks;
  test::SessionRecipe recipe;
  {
    auto writer = store::SessionWriter::create(file, store::OnExisting::kReplace, {});
    REQUIRE(writer);
    REQUIRE(writer->begin_segment(test::segment_of(recipe)));
    for (const std::size_t first : {std::size_t{0}, kThirtyYears}) {
      REQUIRE(writer->write_block(test::block_of(recipe, first, first + kTicks)));
      REQUIRE(writer->commit());
    }
  }
  const auto session = store::SessionReader::open(file);
  REQUIRE(session);
  REQUIRE(session->segments().size() == 1);
  const store::StoredSegment& segment = session->segments()[0];
  CHECK(segment.end_ns - segment.description.start_ns > 900'000'000'000'000'000);
  const Result<analysis::Conditions> conditions = conditions_of(*session);
  REQUIRE(conditions);
  CHECK(conditions->gpu == recipe.gpu_name);
  CHECK_FALSE(conditions->clock_mhz);
}
