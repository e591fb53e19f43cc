// The benches against a GPU whose constants are known: what is read from their curves must be what
// the model was made of.
#include <doctest/doctest.h>

#include <algorithm>
#include <filesystem>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "cli/analysis/inference.h"
#include "cli/commands/bench/bench_run.h"
#include "cli/commands/bench/simulated_runner.h"
#include "daemon/simulated_gpu/gpu_description.h"
#include "daemon/simulated_gpu/workload.h"
#include "kernels/bench/bench_test.h"
#include "tests/support/error_text.h"
#include "tests/support/fake_clock.h"

namespace gputrace::test {
namespace {

using analysis::BenchRun;
using analysis::DerivedValue;
using analysis::TestResult;
using analysis::TestStatus;

constexpr double kKiB = 1024;

/// The simulated GPU on a clock that its runs alone move: a busy machine leaves no points out.
class SimulatedSession final : public commands::BenchSession {
 public:
  SimulatedSession() {
    auto runner = commands::open_simulated_runner("sim:780m", &clock_);
    REQUIRE_MESSAGE(runner.has_value(), error_text(runner));
    runner_ = std::move(*runner);
  }

  [[nodiscard]] bench::Runner& runner() override { return *runner_; }
  [[nodiscard]] bench::PointObserver* observer() override { return nullptr; }
  [[nodiscard]] bench::MeasurementOptions options() override {
    bench::MeasurementOptions options;  // as with --quick
    options.run_ns = 4e6;
    options.warm_up_ns = 60e6;
    options.point_limit_ns = 200e6;
    options.clock = &clock_;
    return options;
  }
  [[nodiscard]] analysis::BenchDevice device() const override { return {}; }
  void begin_test(commands::RunningTest /*test*/, double /*seconds_left*/) override {}
  [[nodiscard]] const std::vector<std::string>& notes() const override { return notes_; }
  [[nodiscard]] bool cancelled() const override { return false; }
  [[nodiscard]] Result<std::optional<std::filesystem::path>> finish(const BenchRun&) override {
    return std::nullopt;
  }

 private:
  FakeClock clock_;
  std::unique_ptr<bench::Runner> runner_;
  std::vector<std::string> notes_;
};

BenchRun run_one(std::string_view id, bool quick) {
  SimulatedSession session;
  const auto& all = bench::bench_tests();
  const auto found = std::ranges::find(all, id, &bench::BenchTest::id);
  REQUIRE(found != all.end());
  const std::vector<const bench::BenchTest*> tests{&*found};
  BenchRun run;
  run.quick = quick;
  commands::run_bench_tests(tests, session, session.options(), run);
  analysis::infer(run);
  for (const TestResult& test : run.tests) {
    CAPTURE(test.id);
    CHECK_MESSAGE((test.status == TestStatus::kOk || test.status == TestStatus::kSkipped),
                  test.why);
  }
  return run;
}

BenchRun run_quick(std::string_view id) {
  return run_one(id, true);
}

const TestResult& result_of(const BenchRun& run, std::string_view id) {
  const auto found = std::ranges::find(run.tests, id, &TestResult::id);
  REQUIRE_MESSAGE(found != run.tests.end(), id);
  return *found;
}

const DerivedValue& value_of(const BenchRun& run, std::string_view id, std::string_view what) {
  const TestResult& test = result_of(run, id);
  const auto found = std::ranges::find(test.derived, what, &DerivedValue::what);
  REQUIRE_MESSAGE(found != test.derived.end(), id << ": no " << what);
  return *found;
}

/// Within a share below and above; what is sure within 1.5 in any case.
void check(const BenchRun& run, std::string_view id, std::string_view what, double truth,
           double lower, double upper) {
  const DerivedValue& value = value_of(run, id, what);
  CAPTURE(id);
  CAPTURE(what);
  CAPTURE(value.confidence);
  CHECK(value.value >= lower * truth);
  CHECK(value.value <= upper * truth);
  if (value.confidence == "sure") {
    CHECK(value.value >= truth / 1.5);
    CHECK(value.value <= truth * 1.5);
  }
}

double rate_at(const BenchRun& run, std::string_view id, std::string_view series, double x) {
  for (const analysis::BenchSeries& each : result_of(run, id).series) {
    for (const analysis::BenchPoint& point : each.points) {
      if (each.name == series && point.x == x && point.median) {
        return *point.median;
      }
    }
  }
  FAIL("no point of " << id << ", " << series << " at " << x);
  return 0;
}

const simulated_gpu::GpuDescription& gpu() {
  return simulated_gpu::simulated_models().front().gpu;
}

TEST_CASE("latencies find the sizes and times of the simulated GPU's caches") {
  const BenchRun run = run_quick("latency");
  const double clk = 1 / gpu().max_clock_ghz;
  const double gl1_ns = (gpu().l0_latency_clk + gpu().gl1_latency_clk) * clk;
  const double gl2_ns = gl1_ns + gpu().gl2_latency_clk * clk;
  // Sizes are those of the fit alone: hops are not timed one by one on a simulated GPU.
  check(run, "latency.vector", "level.1.size", gpu().l0_kib * kKiB, 0.7, 1.35);
  check(run, "latency.vector", "level.2.size", gpu().gl1_array_kib * kKiB, 0.7, 1.35);
  check(run, "latency.vector", "level.3.size", gpu().gl2_kib * kKiB, 0.7, 1.35);
  check(run, "latency.vector", "level.1.latency", gpu().l0_latency_clk * clk, 0.97, 1.03);
  check(run, "latency.vector", "level.2.latency", gl1_ns, 0.9, 1.1);
  check(run, "latency.vector", "level.3.latency", gl2_ns, 0.9, 1.1);
  check(run, "latency.vector", "memory.latency", gl2_ns + gpu().dram_latency_ns + gpu().tlb2_ns,
        0.9, 1.1);
  check(run, "latency.uniform", "level.1.size", gpu().scalar_cache_kib * kKiB, 0.7, 1.35);
  check(run, "latency.uniform", "level.1.latency", gpu().scalar_latency_clk * clk, 0.97, 1.03);
  check(run, "latency.local", "local.latency", gpu().local_latency_clk * clk, 0.97, 1.03);
}

TEST_CASE("strides find the simulated GPU's lines and TLB") {
  // Strides in steps of 4, as with --quick, tell neither.
  const BenchRun run = run_one("stride", false);
  check(run, "stride.jittered", "line.size", simulated_gpu::kLineBytes, 0.7, 1.35);
  check(run, "stride.jittered", "tlb.1.reach", gpu().tlb1_reach_kib * kKiB, 0.7, 1.35);
  check(run, "stride.jittered", "tlb.1.page", simulated_gpu::kPageBytes, 0.7, 1.35);
}

TEST_CASE("rates find what the simulated GPU's caches and DRAM give") {
  const BenchRun run = run_quick("bandwidth");
  const double a_clk = gpu().compute_units * gpu().max_clock_ghz;
  CHECK(rate_at(run, "bandwidth.read", "own", 16 * kKiB) ==
        doctest::Approx(gpu().l0_fill_bytes_per_clk_cu * a_clk).epsilon(0.03));
  check(run, "bandwidth.read", "dram.read", gpu().dram_peak_gbps * gpu().dram_pure_efficiency, 0.9,
        1.1);
  // Writes: L0 and GL1 hold none. Sizes in steps of 2 and no latencies: a factor of 2 is all.
  check(run, "bandwidth.write", "level.1.size", gpu().gl2_kib * kKiB, 0.5, 2);
  check(run, "bandwidth.write", "level.1.write", gpu().gl2_bytes_per_clk * gpu().max_clock_ghz, 0.5,
        2);
  check(run, "bandwidth.write", "dram.write", gpu().dram_peak_gbps * gpu().dram_pure_efficiency,
        0.9, 1.1);
}

TEST_CASE("groups in flight find the simulated GPU's slots and local memory") {
  const BenchRun slots = run_quick("occupancy");
  check(slots, "occupancy.registers", "slots",
        double{2} * gpu().compute_units * gpu().waves_per_simd, 1, 1.02);
  const BenchRun local = run_quick("local");
  check(local, "local.allocation", "local.cores", gpu().compute_units, 1, 1);
  check(local, "local.allocation", "local.core", gpu().local_kib * kKiB, 1, 1.15);
  const DerivedValue& rounding = value_of(local, "local.allocation", "local.rounding");
  CHECK(rounding.lower <= gpu().local_granule_bytes);
  CHECK(rounding.upper >= gpu().local_granule_bytes);
  CHECK(rate_at(local, "local.bandwidth", "float", 1) ==
        doctest::Approx(gpu().local_bytes_per_clk_cu * gpu().compute_units * gpu().max_clock_ghz)
            .epsilon(0.03));
}

TEST_CASE("rates by the size of code find the simulated GPU's instruction cache") {
  const BenchRun run = run_quick("icache");
  check(run, "icache.4B", "icache.1.size", gpu().instruction_cache_kib * kKiB, 0.99, 1.35);
  check(run, "icache.8B", "icache.1.size", gpu().instruction_cache_kib * kKiB, 0.99, 1.35);
}

}  // namespace
}  // namespace gputrace::test
