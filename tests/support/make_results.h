// A run of a bench with every field of the results set, or absent. Link gputrace_store.
#pragma once

#include <optional>

#include "daemon/store/results.h"

namespace gputrace::test {

inline store::ResultPoint point_of(double x, double median) {
  store::ResultPoint point;
  point.x = x;
  point.median = median;
  point.p5 = median * 0.98;
  point.p95 = median * 1.02;
  point.samples = 20;
  point.drifts = true;
  point.code_bytes = 640;
  point.vgprs = 48;
  point.waves_per_simd = 16;
  point.clock_before_mhz = 2700;
  point.clock_after_mhz = 2650;
  point.power_w = 34.5;
  point.start_ns = 1'000'000'000'000;
  point.end_ns = 1'000'500'000'000;
  return point;
}

inline store::ResultRun full_run() {
  store::ResultPoint skipped;
  skipped.x = 0.5;
  skipped.status = store::ResultStatus::kSkipped;
  skipped.why = "the device has no fp64";
  store::ResultTest sweep;
  sweep.name = "roofline.sweep";
  sweep.unit = "GFLOPS";
  sweep.axis = "arithmetic intensity";
  sweep.axis_unit = "FLOP/B";
  sweep.result = store::ResultProof::kPassed;
  sweep.isa = store::ResultProof::kPassed;
  sweep.start_ns = 1'000'000'000'000;
  sweep.end_ns = 1'002'000'000'000;
  sweep.series = {{"wave32", {point_of(0.25, 20), point_of(512, 8000)}}, {"wave64", {skipped}}};
  sweep.counts = {{"sweep.n16", "FMA fp32", 64, 64}, {"sweep.n16", "load 16", 1, std::nullopt}};
  sweep.values = {{"peak.fp32", 8000, 7900, 8100, "GFLOPS", "", "the points"},
                  {"L2 size", 2097152, std::nullopt, std::nullopt, "B", "likely", "a step"}};
  store::ResultTest suspect;
  suspect.name = "fill.rgba8";
  suspect.status = store::ResultStatus::kSuspect;
  suspect.why = "16 exports in the code, 8 in the formula";
  suspect.isa = store::ResultProof::kFailed;
  store::ResultRun run;
  run.started_at = "2026-11-30T14:00:00Z";
  run.device = "AMD Radeon 780M";
  run.pci = "0000:c4:00.0";
  run.vendor_id = 0x1002;
  run.device_id = 0x15bf;
  run.revision_id = 0xc7;
  run.driver = "radv";
  run.driver_info = "Mesa 24.2.8";
  run.subgroup_sizes = {32, 64};
  run.quick = true;
  run.clock_mhz = 2700;
  run.power_w = 34.5;
  run.temperature_c = 71;
  run.tests = {sweep, suspect};
  return run;
}

inline store::ResultRun bare_run() {
  store::ResultRun run;
  run.device = "llvmpipe";
  run.driver = "llvmpipe";
  run.simulated = true;
  run.cancelled = true;
  return run;
}

}  // namespace gputrace::test
