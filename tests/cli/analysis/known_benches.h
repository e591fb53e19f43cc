// Benches with known figures, for tests of their comparison.
#pragma once

#include <doctest/doctest.h>

#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "cli/analysis/bench_comparison.h"
#include "cli/analysis/bench_fail_condition.h"
#include "tests/support/error_text.h"

namespace gputrace::test {

inline analysis::BenchPoint measured(double x, double median, double spread = 0.02) {
  analysis::BenchPoint point;
  point.x = x;
  point.median = median;
  point.p5 = median * (1 - spread);
  point.p95 = median * (1 + spread);
  point.samples = 20;
  return point;
}

inline analysis::TestResult rates(double value) {
  analysis::TestResult test;
  test.id = "alu.fp32";
  test.unit = "Gop/s";
  test.series = {{"fma", {measured(32, value)}}, {"add", {measured(32, 100)}}};
  return test;
}

inline analysis::TestResult curve(double factor) {
  analysis::TestResult test;
  test.id = "latency.vector";
  test.unit = "ns a hop";
  test.axis_unit = "B";
  test.series = {{"1 chain",
                  {measured(4096, 30 * factor), measured(65536, 40 * factor),
                   measured(1048576, 80 * factor), measured(16777216, 300 * factor)}}};
  test.derived = {{"level.1.size", 32768, 30000, 36000, "B", "sure", ""},
                  {"memory.latency", 300 * factor, std::nullopt, std::nullopt, "ns", "", ""}};
  return test;
}

inline analysis::BenchRun run_of(std::vector<analysis::TestResult> tests) {
  analysis::BenchRun run;
  run.device.name = "a GPU";
  run.device.driver = "radv";
  run.device.driver_info = "Mesa 24.2.8";
  run.tests = std::move(tests);
  return run;
}

inline analysis::BenchComparison compare_single(const analysis::BenchRun& a,
                                                const analysis::BenchRun& b) {
  return analysis::compare_benches(std::span(&a, 1), std::span(&b, 1));
}

inline const analysis::BenchRatio& row(const std::vector<analysis::BenchRatio>& rows,
                                       std::string_view name) {
  for (const analysis::BenchRatio& each : rows) {
    if (each.name == name) {
      return each;
    }
  }
  FAIL("no row " << std::string(name));
  return rows.front();
}

inline analysis::FailVerdict verdict(std::string_view condition,
                                     const analysis::BenchComparison& comparison) {
  const auto parsed = analysis::parse_bench_fail_condition(condition);
  REQUIRE_MESSAGE(parsed, error_text(parsed));
  const auto checked = analysis::check(*parsed, comparison);
  REQUIRE_MESSAGE(checked, error_text(checked));
  return *checked;
}

}  // namespace gputrace::test
