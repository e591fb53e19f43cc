#include "tests/cli/report/sample_curves.h"

#include <algorithm>
#include <cmath>
#include <string>
#include <utility>

namespace gputrace::test {

namespace {

using analysis::BenchPoint;
using analysis::BenchSeries;
using analysis::TestResult;
using analysis::TestStatus;

BenchPoint measured(double x, double median) {
  BenchPoint point;
  point.x = x;
  point.median = median;
  point.p5 = median * 0.98;
  point.p95 = median * 1.03;
  point.samples = 20;
  point.power_w = 12;
  point.clock_before_mhz = point.clock_after_mhz = 2600;
  return point;
}

/// Of a hierarchy with 32 KiB at 30 ns, 2 MiB at 80 ns and memory at 300 ns.
TestResult latency(std::string id, double factor) {
  TestResult test;
  test.id = std::move(id);
  test.unit = "ns a hop";
  test.axis = "working set";
  test.axis_unit = "B";
  test.result = analysis::Proof::kPassed;
  BenchSeries chain{"1 chain", {}};
  BenchSeries least{"1 chain, minimum", {}};
  BenchSeries wave{"full wave", {}};
  for (double bytes = 4096; bytes <= 64 * 1048576.0; bytes *= 2) {
    const double first = std::max(0.0, 1 - 32768 / bytes);
    const double second = std::max(0.0, 1 - 2097152 / bytes);
    const double ns = factor * (30 + 50 * first + 220 * second);
    chain.points.push_back(measured(bytes, ns));
    least.points.push_back(measured(bytes, ns * 0.99));
    wave.points.push_back(measured(bytes, ns * 1.4));
  }
  chain.points[3].drifts = true;
  test.series = {chain, least, wave};
  return test;
}

TestResult rates() {
  TestResult test;
  test.id = "alu.fp32";
  test.unit = "Gop/s";
  test.axis = "subgroup size";
  for (const auto& [name, rate] :
       {std::pair("add", 2000.0), std::pair("a*b+c <&\">", 1990.0), std::pair("div", 160.0)}) {
    test.series.push_back({name, {measured(32, rate), measured(64, rate * 0.9)}});
  }
  test.series[1].points[1].status = TestStatus::kSuspect;
  test.series[1].points[1].why = "16 FMA fp32 in the code, 32 in the formula";
  test.status = TestStatus::kSuspect;
  test.why = "a proof failed at the points marked suspect";
  test.counts = {{"alu.fp32", "FMA fp32", 32, 16}};
  test.derived = {{"peak.fp32", 4000, 3950, 4050, "GFLOPS", "", "add"}};
  return test;
}

TestResult pairs() {
  TestResult test;
  test.id = "c2c.global";
  test.unit = "ns one way";
  test.axis = "second group";
  constexpr int kGroups = 6;
  for (int first = 0; first + 1 < kGroups; ++first) {
    BenchSeries series{"group " + std::to_string(first), {}};
    for (int second = first + 1; second < kGroups; ++second) {
      series.points.push_back(measured(second, (first + second) % 2 == 0 ? 110 : 240));
    }
    test.series.push_back(std::move(series));
  }
  return test;
}

}  // namespace

analysis::BenchRun sample_curves() {
  analysis::BenchRun run;
  run.device.name = "AMD Radeon 780M <i>\x1b[31m";
  run.device.driver = "radv";
  run.device.driver_info = "Mesa 24.2.8";
  run.device.subgroup_sizes = {32, 64};
  run.started_at = "2026-11-30T14:00:00Z";
  TestResult vector = latency("latency.vector", 1);
  vector.derived = {{"level.1.size", 32768, 28000, 40000, "B", "sure", "fit and hops"},
                    {"level.2.size", 2097152, 1600000, 2700000, "B", "likely", "fit"},
                    {"tlb.1.reach", 33554432, 16777216, 50331648, "B", "a guess", "strides"},
                    {"memory.latency", 300, 290, 310, "ns", "likely", "what no level holds"},
                    {"4 KiB", 78, std::nullopt, std::nullopt, "clk", "", "2600 MHz"}};
  TestResult skipped;
  skipped.id = "rays";
  skipped.status = TestStatus::kSkipped;
  skipped.why = "the device has no ray queries";
  run.tests = {rates(), vector, latency("latency.image", 1.6), pairs(), skipped};
  return run;
}

}  // namespace gputrace::test
