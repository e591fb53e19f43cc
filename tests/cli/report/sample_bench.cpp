#include "tests/cli/report/sample_bench.h"

#include <limits>

namespace gputrace::test {

namespace {

using analysis::BenchPoint;
using analysis::Proof;
using analysis::TestResult;
using analysis::TestStatus;

BenchPoint measured(double x, double median) {
  BenchPoint point;
  point.x = x;
  point.median = median;
  point.p5 = median * 0.99;
  point.p95 = median * 1.02;
  point.samples = 20;
  point.code_bytes = 304;
  point.vgprs = 8;
  point.waves_per_simd = 16;
  point.clock_before_mhz = 2600;
  point.clock_after_mhz = 2550;
  point.power_w = 24.5;
  point.start_ns = 1'000'000'000;
  point.end_ns = 1'500'000'000;
  return point;
}

TestResult latency() {
  TestResult test;
  test.id = "latency.vector";
  test.status = TestStatus::kSuspect;
  test.why = "a proof failed at the points marked suspect";
  test.unit = "ns a hop";
  test.axis = "working set";
  test.axis_unit = "B";
  BenchPoint drifting = measured(8192, 29.25);
  drifting.drifts = true;
  drifting.samples = 11;
  BenchPoint suspect = measured(16384, 0.1);
  suspect.status = TestStatus::kSuspect;
  suspect.why = "0.1 ns a hop is less than any cache takes";
  BenchPoint failed;
  failed.x = 5793;
  failed.status = TestStatus::kFailed;
  failed.why = "the result is wrong";
  BenchPoint endless = measured(8192, std::numeric_limits<double>::infinity());
  endless.p5 = std::numeric_limits<double>::quiet_NaN();
  test.series = {{"1 chain", {measured(4096, 28.5), failed, drifting, suspect}},
                 {"8 chains", {endless}}};
  test.counts = {{"latency.vector.c1.4KiB", "load 8 B", 16, 16},
                 {"latency.vector.c8.4KiB", "load 8 B", 128, 127},
                 {"latency.vector.c2.4KiB", "load 8 B", 32, std::nullopt}};
  test.result = Proof::kPassed;
  test.isa = Proof::kFailed;
  test.derived = {{"L2 size", 2097152, 1572864, 2621440, "B", "sure", "the knee of latency"},
                  {"4 KiB", 74.1, std::nullopt, std::nullopt, "clk", "", "2600 MHz"}};
  test.start_ns = 1'000'000'000;
  test.end_ns = 2'000'000'000;
  return test;
}

}  // namespace

analysis::BenchRun sample_bench() {
  analysis::BenchRun run;
  run.device.name = "AMD Radeon 780M \x1b[31m(RADV GFX1103_R1)";
  run.device.pci = "0000:c4:00.0";
  run.device.driver = "radv";
  run.device.driver_info = "Mesa 24.2.8";
  run.device.subgroup_sizes = {32, 64};
  run.started_at = "2026-11-30T14:00:00Z";
  run.quick = true;
  run.clock_mhz = 800;
  run.tests = {latency()};
  TestResult skipped;
  skipped.id = "atomics.global64";
  skipped.status = TestStatus::kSkipped;
  skipped.why = "the device has no 64-bit atomics";
  run.tests.push_back(skipped);
  TestResult failed;
  failed.id = "fill";
  failed.status = TestStatus::kFailed;
  failed.why = "the device was lost";
  run.tests.push_back(failed);
  return run;
}

}  // namespace gputrace::test
