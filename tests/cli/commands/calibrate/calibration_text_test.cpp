// What `gputrace calibrate` prints, character by character.
#include <doctest/doctest.h>

#include <string>

#include "cli/commands/calibrate/calibration_output.h"

namespace gputrace::commands {
namespace {

using analysis::Bottleneck;
using analysis::CalibrationPoint;

analysis::BusyUnit unit(std::string name, double busy, std::optional<analysis::Interval> ci95) {
  return {.key = {"GRBM_STATUS2", std::move(name)}, .busy = busy, .ci95 = ci95};
}

analysis::Calibration calibration() {
  analysis::Calibration made;
  made.file = "/home/u/machine/calibration-780M.gputrace";
  made.started_at = "2026-11-30T14:00:00Z";
  made.conditions = {.gpu = "AMD Radeon 780M",
                     .driver = "radv, Mesa 24.2.8",
                     .clock_mhz = 2611.4,
                     .power_w = 44.96};
  made.compute =
      analysis::Ceiling{.name = "fp32", .value = 4672, .lower = {}, .upper = {}, .unit = "GFLOPS"};
  made.bandwidth =
      analysis::Ceiling{.name = "DRAM", .value = 73, .lower = {}, .upper = {}, .unit = "GB/s"};
  CalibrationPoint stream;
  stream.workload = "sweep.n4.g256";
  stream.family = "sweep";
  stream.truth = Bottleneck::kBandwidth;
  stream.intensity = 1;
  stream.gbps = 73;
  stream.gflops = 73;
  stream.clock_mhz = 2650;
  stream.power_w = 31;
  stream.units = {unit("EA_BUSY", 0.96, analysis::Interval{.lower = 0.95, .upper = 0.965}),
                  unit("TA_BUSY", 0.5, std::nullopt)};
  CalibrationPoint compute = stream;
  compute.workload = "sweep.n1024.g1024";
  compute.truth = Bottleneck::kCompute;
  compute.intensity = 256;
  compute.gbps = 18.25;
  compute.gflops = 4672;
  compute.units = {unit("EA_BUSY", 0.31, analysis::Interval{.lower = 0.28, .upper = 0.34})};
  CalibrationPoint failed;
  failed.workload = "texture.rgba8.random.bilinear.f16.pixels.4096x4096";
  failed.suspect = true;
  made.points = {stream, compute, failed};
  return made;
}

ValidatedWorkload validated(std::string name, Bottleneck truth, Bottleneck found,
                            double confidence) {
  ValidatedWorkload workload;
  workload.truth.workload = std::move(name);
  workload.truth.truth = truth;
  workload.verdict.bottleneck = found;
  workload.verdict.confidence = confidence;
  return workload;
}

Validation validation() {
  Validation made;
  made.fit.use = analysis::CalibrationUse::kAsItIs;
  made.fit.why = "calibrated at 2611 MHz, recorded at 2611 MHz";
  made.scatter = 0.081;
  ValidatedWorkload inside =
      validated("stencil.5point", Bottleneck::kBandwidth, Bottleneck::kMemory, 0.8);
  inside.of_ridge = 0.0115;
  inside.position.emplace().of_ridge.upper = 2.55;
  inside.inside = true;
  inside.class_right = true;
  ValidatedWorkload outside =
      validated("matmul.tile256", Bottleneck::kMixed, Bottleneck::kCompute, 0.5);
  outside.of_ridge = 0.89;
  outside.position.emplace().of_ridge = {.lower = 1.5, .upper = 3.25};
  outside.inside = false;
  ValidatedWorkload anywhere =
      validated("matmul.tile128", Bottleneck::kBandwidth, Bottleneck::kMemory, 0.8);
  anywhere.of_ridge = 0.47;
  anywhere.position.emplace();
  anywhere.class_right = true;
  ValidatedWorkload nowhere = validated("nbody", Bottleneck::kCompute, Bottleneck::kTexture, 0.69);
  nowhere.of_ridge = 287.6;
  nowhere.class_right = false;
  made.workloads = {inside, outside, anywhere, nowhere};
  return made;
}

report::TextOptions plain() {
  report::TextOptions options;
  options.width = 100;
  options.colour = false;
  options.ascii = false;
  return options;
}

}  // namespace

TEST_CASE("a calibration is two tables: rates with what limits them, and busy units") {
  CHECK(calibration_text(calibration(), {}, plain()) == R"(AMD Radeon 780M
radv, Mesa 24.2.8, 2611 MHz under load, 45.0 W, 4,672 GFLOPS of fp32, 73.0 GB/s of DRAM, ridge at
64.0 FLOP/B

  workload                                     FLOP/B  GB/s GFLOPS    MHz     W  limited by
  sweep.n4.g256                                  1.00  73.0   73.0  2,650  31.0  bandwidth
  sweep.n1024.g1024                               256  18.2  4,672  2,650  31.0  compute
  texture.rgba8.random....f16.pixels.4096x4096      -     -      -      -     -  unknown, suspect

  busy, % of samples                                EA   GL2CC     TCP      TA     SPI      CB
  sweep.n4.g256                                  96 ±1       -       -      50       -       -
  sweep.n1024.g1024                              31 ±3       -       -       -       -       -
  texture.rgba8.random....f16.pixels.4096x4096       -       -       -       -       -       -
)");
}

TEST_CASE("without sensors, ceilings or ASCII's limits the tables keep their columns") {
  analysis::Calibration bare = calibration();
  bare.conditions.driver.reset();
  bare.conditions.clock_mhz.reset();
  bare.conditions.power_w.reset();
  bare.conditions.simulated = true;
  bare.compute.reset();
  bare.points.resize(1);
  report::TextOptions ascii = plain();
  ascii.ascii = true;
  CHECK(calibration_text(bare, {}, ascii) ==
        R"(SIMULATED: a model of a GPU made these figures; none was measured.
AMD Radeon 780M
73.0 GB/s of DRAM

  workload           FLOP/B  GB/s GFLOPS    MHz     W  limited by
  sweep.n4.g256        1.00  73.0   73.0  2,650  31.0  bandwidth

  busy, % of samples      EA   GL2CC     TCP      TA     SPI      CB
  sweep.n4.g256       96 +-1       -       -      50       -       -
)");
}

TEST_CASE("a validation holds truth and estimate against each other, and counts") {
  CHECK(validation_text(validation(), calibration(), plain()) ==
        R"(Validation of the calibration of 2026-11-30T14:00:00Z, calibration-780M.gputrace
calibrated at 2611 MHz, recorded at 2611 MHz
Workloads scatter by 8.1 points about the curve.

  AI over ridge          true  estimated      in   true class estimated    sure  right
  stencil.5point         0.01  below 2.55     yes  bandwidth  memory       80 %  yes
  matmul.tile256         0.89  1.50 .. 3.25   NO   mixed      compute      50 %
  matmul.tile128         0.47  not known           bandwidth  memory       80 %  yes
  nbody                   288  -                   compute    texture      69 %  NO

1 of 2 positions inside their range, 2 of 3 classes right.
)");
}

TEST_CASE("a validation without positions says why, and still judges classes") {
  Validation none = validation();
  none.no_position = "the calibration has no points over arithmetic intensity";
  none.scatter.reset();
  none.workloads = {none.workloads.back()};
  CHECK(validation_text(none, calibration(), plain()) ==
        R"(Validation of the calibration of 2026-11-30T14:00:00Z, calibration-780M.gputrace
calibrated at 2611 MHz, recorded at 2611 MHz
No positions: the calibration has no points over arithmetic intensity

  AI over ridge          true  estimated      in   true class estimated    sure  right
  nbody                   288  -                   compute    texture      69 %  NO

No position to judge, 0 of 1 classes right.
)");
}

}  // namespace gputrace::commands
