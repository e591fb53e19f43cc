#include "kernels/bench/tests/workload_values.h"

#include <fmt/format.h>

#include <algorithm>

namespace gputrace::bench {
namespace {

using analysis::BenchPoint;
using analysis::TestResult;
using analysis::TestStatus;

const TestResult* earlier_result(const TestContext& context, std::string_view id) {
  if (context.earlier == nullptr) {
    return nullptr;
  }
  const auto found = std::ranges::find(*context.earlier, id, &TestResult::id);
  return found == context.earlier->end() ? nullptr : &*found;
}

/// Of all that may be published, the best at the largest x.
std::optional<double> at_the_end(const TestResult& test) {
  const BenchPoint* last = nullptr;
  for (const analysis::BenchSeries& series : test.series) {
    for (const BenchPoint& point : series.points) {
      const bool counts = point.median && point.status == TestStatus::kOk;
      const bool is_farther = last == nullptr || point.x > last->x ||
                              (point.x == last->x && point.median > last->median);
      last = counts && is_farther ? &point : last;
    }
  }
  return last == nullptr ? std::nullopt : last->median;
}

std::optional<double> best_of(const TestResult& test) {
  std::optional<double> best;
  for (const analysis::BenchSeries& series : test.series) {
    for (const BenchPoint& point : series.points) {
      if (point.median && point.status == TestStatus::kOk) {
        best = std::max(best.value_or(0), *point.median);
      }
    }
  }
  return best;
}

}  // namespace

void derive_place(const WorkloadPlace& place, const WorkloadTimes& times, TestResult& test) {
  const auto add = [&](std::string_view what, double value, std::string unit, std::string by) {
    test.derived.push_back({.what = fmt::format("point.{}.{}", place.name, what),
                            .value = value,
                            .lower = std::nullopt,
                            .upper = std::nullopt,
                            .unit = std::move(unit),
                            .confidence = "",
                            .by = std::move(by)});
  };
  add("intensity", place.flops / place.memory_bytes, "FLOP/B",
      fmt::format("{:.4g} FLOP of the formula, {:.4g} bytes beyond caches", place.flops,
                  place.memory_bytes));
  add("gflops", place.flops / times.median_ns, "GFLOPS", "FLOP of the formula by the median");
  test.derived.back().lower = place.flops / times.slow_ns;
  test.derived.back().upper = place.flops / times.fast_ns;
  add("working_set", place.footprint_bytes, "B", "its buffers");
}

RunCeilings ceilings_of(const TestContext& context) {
  RunCeilings ceilings;
  if (const TestResult* const copies = earlier_result(context, "bandwidth.copy")) {
    ceilings.memory_bytes_per_ns = at_the_end(*copies);
  }
  ceilings.operations_per_ns = context.additions_per_ns;
  if (const TestResult* const alu = earlier_result(context, "alu.fp32")) {
    const auto best = best_of(*alu);
    ceilings.operations_per_ns = best ? best : ceilings.operations_per_ns;
  }
  return ceilings;
}

}  // namespace gputrace::bench
