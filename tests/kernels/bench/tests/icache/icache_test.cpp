#include "kernels/bench/tests/icache/icache.h"

#include <doctest/doctest.h>

#include <algorithm>

#include "kernels/bench/tests/icache/icache_cases.h"
#include "tests/kernels/bench/bench_device.h"
#include "tests/kernels/bench/case_device.h"
#include "tests/kernels/bench/fake_runner.h"

namespace gputrace::bench {
namespace {

using analysis::BenchSeries;
using analysis::TestResult;
using analysis::TestStatus;

/// Compiling takes `ns_an_operation`, which prepare() spends on the clock.
class SlowCompiler final : public test::FakeRunner {
 public:
  explicit SlowCompiler(std::int64_t ns_an_operation) : ns_an_operation_(ns_an_operation) {
    device.subgroup_size = 32;
    dispatch_ns = [](const KernelCase& kernel, const Launch& launch) {
      const double operations = kernel.formula.front().per_trip;
      const double bytes = operations * (kernel.id.starts_with("icache.4B") ? 4 : 8);
      return operations * launch.trips * (bytes > 32768 ? 4 : 1);
    };
  }

  [[nodiscard]] Result<std::unique_ptr<PreparedKernel>> prepare(const KernelCase& kernel) override {
    const auto operations = static_cast<std::int64_t>(kernel.formula.front().per_trip);
    clock.advance(operations * ns_an_operation_);
    longest = std::max(longest, operations);
    return FakeRunner::prepare(kernel);
  }

  std::int64_t longest = 0;

 private:
  std::int64_t ns_an_operation_;
};

std::vector<TestResult> run(SlowCompiler& runner, bool quick, std::optional<double> share_s) {
  TestContext context{.runner = runner, .options = runner.options(), .quick = quick};
  if (share_s) {
    context.options.share_end_ns =
        runner.clock.now_ns() + static_cast<std::int64_t>(*share_s * 1e9);
  }
  return run_icache(context);
}

TEST_CASE("straight lines leave on a device what the CPU calculates, whatever their length") {
  const auto runner = test::bench_device_or_skip();
  if (!runner) {
    return;
  }
  for (const StraightOperation operation : {StraightOperation::kAdd, StraightOperation::kFma}) {
    for (const std::uint32_t chains : {1U, 4U}) {
      const KernelCase kernel = straight_case(runner->facts(), operation, 512, chains);
      test::check_on_device(*runner, kernel, {.groups = 2, .trips = 3});
    }
  }
}

TEST_CASE("one operation too few in a line is found") {
  const auto runner = test::bench_device_or_skip();
  if (!runner) {
    return;
  }
  KernelCase kernel = straight_case(runner->facts(), StraightOperation::kAdd, 256, 1);
  const KernelCase shorter = straight_case(runner->facts(), StraightOperation::kAdd, 254, 1);
  kernel.code = shorter.code;
  const auto prepared = runner->prepare(kernel);
  REQUIRE_MESSAGE(prepared, test::error_text(prepared));
  const Status wrong = (*prepared)->check_result({.groups = 1, .trips = 2});
  REQUIRE_FALSE(wrong);
  CHECK(wrong.error().code == ErrorCode::kCorrupt);
}

TEST_CASE("code of any length is allowed, and what it is made of is stated") {
  const test::FakeRunner runner;
  for (const KernelCase& kernel : icache_cases(runner.facts())) {
    CAPTURE(kernel.id);
    CHECK_FALSE(kernel.max_code_bytes.has_value());
    CHECK_FALSE(kernel.code.empty());
    const Stimulus stimulus = kernel.stimulus({.groups = 1, .trips = 2});
    const double operations = kernel.formula.front().per_trip;
    CHECK(stimulus.code_bytes == operations * (kernel.id.starts_with("icache.4B") ? 4 : 8));
    CHECK(stimulus.flops == 4 * operations);
  }
}

TEST_CASE("rates fall where the code ends to fit, at the same bytes for both encodings") {
  SlowCompiler runner(1);
  for (const TestResult& test : run(runner, true, std::nullopt)) {
    CAPTURE(test.id);
    CHECK(test.status == TestStatus::kOk);
    const auto wave = std::ranges::find(test.series, "1 wave", &BenchSeries::name);
    REQUIRE(wave != test.series.end());
    for (const auto& point : wave->points) {
      REQUIRE(point.median);
      CHECK(*point.median == doctest::Approx(point.x > 32768 ? 8 : 32).epsilon(0.02));
    }
    CHECK(wave->points.back().x >= 1 << 18U);
    CHECK(std::ranges::is_sorted(wave->points, {}, &analysis::BenchPoint::x));
    CHECK(std::ranges::count(test.series, "all, 4 chains", &BenchSeries::name) == 1);
    REQUIRE(test.derived.size() == 1);
    CHECK(test.derived.front().confidence == "a guess");
  }
}

TEST_CASE("a driver that compiles slowly gets short lines, and the test says so") {
  SlowCompiler runner(100'000);
  const std::int64_t before_ns = runner.clock.now_ns();
  const auto results = run(runner, true, 2.5);
  CHECK(runner.longest < 65536);
  CHECK(static_cast<double>(runner.clock.now_ns() - before_ns) < 8e9);
  for (const TestResult& test : results) {
    CHECK(test.status == TestStatus::kOk);
    CHECK(test.why.find("points left out") != std::string::npos);
  }
}

TEST_CASE("a lost device fails the test") {
  SlowCompiler runner(1);
  runner.broken = Error{ErrorCode::kIo, "the device was lost"};
  for (const TestResult& test : run(runner, true, std::nullopt)) {
    CHECK(test.status == TestStatus::kFailed);
  }
}

}  // namespace
}  // namespace gputrace::bench
