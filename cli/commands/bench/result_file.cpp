#include "cli/commands/bench/result_file.h"

#include <algorithm>
#include <array>
#include <utility>

namespace gputrace::commands {

namespace {

using analysis::Proof;
using analysis::TestStatus;
using store::ResultProof;
using store::ResultStatus;

constexpr std::array<std::pair<TestStatus, ResultStatus>, 4> kStatuses{{
    {TestStatus::kOk, ResultStatus::kOk},
    {TestStatus::kSkipped, ResultStatus::kSkipped},
    {TestStatus::kSuspect, ResultStatus::kSuspect},
    {TestStatus::kFailed, ResultStatus::kFailed},
}};

constexpr std::array<std::pair<Proof, ResultProof>, 3> kProofs{{
    {Proof::kNotDone, ResultProof::kNotDone},
    {Proof::kPassed, ResultProof::kPassed},
    {Proof::kFailed, ResultProof::kFailed},
}};

template <class Table, class Value>
auto right_of(const Table& table, Value left) {
  const auto* found = std::find_if(table.begin(), table.end(),
                                   [left](const auto& row) { return row.first == left; });
  GPUTRACE_CHECK(found != table.end());
  return found->second;
}

template <class Table, class Value>
auto left_of(const Table& table, Value right) {
  const auto* found = std::find_if(table.begin(), table.end(),
                                   [right](const auto& row) { return row.second == right; });
  GPUTRACE_CHECK(found != table.end());
  return found->first;
}

store::ResultPoint stored_point(const analysis::BenchPoint& point) {
  return {.x = point.x,
          .median = point.median,
          .p5 = point.p5,
          .p95 = point.p95,
          .samples = point.samples,
          .status = right_of(kStatuses, point.status),
          .why = point.why,
          .drifts = point.drifts,
          .code_bytes = point.code_bytes,
          .vgprs = point.vgprs,
          .waves_per_simd = point.waves_per_simd,
          .clock_before_mhz = point.clock_before_mhz,
          .clock_after_mhz = point.clock_after_mhz,
          .power_w = point.power_w,
          .start_ns = point.start_ns,
          .end_ns = point.end_ns};
}

analysis::BenchPoint bench_point(const store::ResultPoint& point) {
  return {.x = point.x,
          .median = point.median,
          .p5 = point.p5,
          .p95 = point.p95,
          .samples = point.samples,
          .status = left_of(kStatuses, point.status),
          .why = point.why,
          .drifts = point.drifts,
          .code_bytes = point.code_bytes,
          .vgprs = point.vgprs,
          .waves_per_simd = point.waves_per_simd,
          .clock_before_mhz = point.clock_before_mhz,
          .clock_after_mhz = point.clock_after_mhz,
          .power_w = point.power_w,
          .start_ns = point.start_ns,
          .end_ns = point.end_ns};
}

store::ResultTest stored_test(const analysis::TestResult& test) {
  store::ResultTest stored;
  stored.name = test.id;
  stored.status = right_of(kStatuses, test.status);
  stored.why = test.why;
  stored.unit = test.unit;
  stored.axis = test.axis;
  stored.axis_unit = test.axis_unit;
  stored.result = right_of(kProofs, test.result);
  stored.isa = right_of(kProofs, test.isa);
  stored.rate = right_of(kProofs, test.rate);
  stored.start_ns = test.start_ns;
  stored.end_ns = test.end_ns;
  for (const analysis::BenchSeries& series : test.series) {
    store::ResultSeries& to = stored.series.emplace_back();
    to.name = series.name;
    std::transform(series.points.begin(), series.points.end(), std::back_inserter(to.points),
                   stored_point);
  }
  for (const analysis::CountCheck& count : test.counts) {
    stored.counts.push_back({count.kernel, count.operation, count.formula, count.isa});
  }
  for (const analysis::DerivedValue& value : test.derived) {
    stored.values.push_back({value.what, value.value, value.lower, value.upper, value.unit,
                             value.confidence, value.by});
  }
  return stored;
}

analysis::TestResult bench_test(const store::ResultTest& stored) {
  analysis::TestResult test;
  test.id = stored.name;
  test.status = left_of(kStatuses, stored.status);
  test.why = stored.why;
  test.unit = stored.unit;
  test.axis = stored.axis;
  test.axis_unit = stored.axis_unit;
  test.result = left_of(kProofs, stored.result);
  test.isa = left_of(kProofs, stored.isa);
  test.rate = left_of(kProofs, stored.rate);
  test.start_ns = stored.start_ns;
  test.end_ns = stored.end_ns;
  for (const store::ResultSeries& series : stored.series) {
    analysis::BenchSeries& to = test.series.emplace_back();
    to.name = series.name;
    std::transform(series.points.begin(), series.points.end(), std::back_inserter(to.points),
                   bench_point);
  }
  for (const store::ResultCount& count : stored.counts) {
    test.counts.push_back({count.kernel, count.operation, count.formula, count.isa});
  }
  for (const store::ResultValue& value : stored.values) {
    test.derived.push_back({value.what, value.value, value.lower, value.upper, value.unit,
                            value.confidence, value.source});
  }
  return test;
}

}  // namespace

store::ResultRun stored_run(const analysis::BenchRun& run) {
  store::ResultRun stored;
  stored.started_at = run.started_at;
  stored.device = run.device.name;
  stored.pci = run.device.pci;
  stored.vendor_id = run.device.vendor_id;
  stored.device_id = run.device.device_id;
  stored.revision_id = run.device.revision_id;
  stored.driver = run.device.driver;
  stored.driver_info = run.device.driver_info;
  stored.subgroup_sizes = run.device.subgroup_sizes;
  stored.simulated = run.device.simulated;
  stored.quick = run.quick;
  stored.cancelled = run.cancelled;
  stored.clock_mhz = run.clock_mhz;
  stored.power_w = run.power_w;
  stored.temperature_c = run.temperature_c;
  std::transform(run.tests.begin(), run.tests.end(), std::back_inserter(stored.tests), stored_test);
  return stored;
}

analysis::BenchRun bench_run(const store::ResultRun& stored) {
  analysis::BenchRun run;
  run.device.name = stored.device;
  run.device.pci = stored.pci;
  run.device.vendor_id = stored.vendor_id;
  run.device.device_id = stored.device_id;
  run.device.revision_id = stored.revision_id;
  run.device.driver = stored.driver;
  run.device.driver_info = stored.driver_info;
  run.device.subgroup_sizes = stored.subgroup_sizes;
  run.device.simulated = stored.simulated;
  run.started_at = stored.started_at;
  run.quick = stored.quick;
  run.cancelled = stored.cancelled;
  run.clock_mhz = stored.clock_mhz;
  run.power_w = stored.power_w;
  run.temperature_c = stored.temperature_c;
  std::transform(stored.tests.begin(), stored.tests.end(), std::back_inserter(run.tests),
                 bench_test);
  return run;
}

}  // namespace gputrace::commands
