#include "tests/cli/report/sample_roofline.h"

#include <algorithm>
#include <cmath>
#include <string>
#include <utility>

namespace gputrace::test {
namespace {

analysis::DerivedValue derived(std::string what, double value, double spread, std::string unit) {
  analysis::DerivedValue result;
  result.what = std::move(what);
  result.value = value;
  result.lower = value * (1 - spread);
  result.upper = value * (1 + spread);
  result.unit = std::move(unit);
  return result;
}

analysis::TestResult test(std::string id, std::vector<analysis::DerivedValue> values) {
  analysis::TestResult result;
  result.id = std::move(id);
  result.derived = std::move(values);
  return result;
}

}  // namespace

analysis::BenchRun sample_roofline_run() {
  analysis::BenchRun run;
  run.device.name = "AMD Radeon 780M";
  run.tests.push_back(test("roofline.peak", {derived("peak.fp32.wave32", 4700, 0.01, "GFLOPS"),
                                             derived("peak.fp32.wave64", 4200, 0.01, "GFLOPS"),
                                             derived("peak.fp16", 8900, 0.01, "GFLOPS"),
                                             derived("peak.fp32", 4700, 0.01, "GFLOPS"),
                                             derived("peak.int32", 830, 0.01, "GOP/s")}));
  run.tests.push_back(
      test("roofline.bandwidth",
           {derived("dram.read", 79, 0.02, "GB/s"), derived("dram.write", 83.2, 0.02, "GB/s"),
            derived("dram.copy", 73, 0.02, "GB/s"), derived("dram.triad", 74, 0.02, "GB/s")}));
  run.tests.push_back(test("roofline.levels", {derived("level.1", 1900, 0.03, "GB/s"),
                                               derived("level.2", 800, 0.03, "GB/s")}));
  analysis::TestResult sweep = test("roofline.sweep", {});
  analysis::BenchSeries series;
  series.name = "fp32";
  for (int octave = -2; octave <= 8; ++octave) {
    analysis::BenchPoint point;
    point.x = std::exp2(octave);
    point.median = 0.97 * std::min(4700.0, 73 * point.x);
    point.p5 = 0.9 * *point.median;
    point.p95 = 1.02 * *point.median;
    if (octave == 5) {
      point.status = analysis::TestStatus::kSuspect;
    }
    series.points.push_back(point);
  }
  sweep.series.push_back(series);
  run.tests.push_back(sweep);
  return run;
}

}  // namespace gputrace::test
