#include "kernels/bench/tests/parallel/parallel.h"

#include <doctest/doctest.h>

#include <algorithm>

#include "tests/kernels/bench/bench_device.h"
#include "tests/kernels/bench/fake_runner.h"

namespace gputrace::bench {
namespace {

using analysis::DerivedValue;
using analysis::TestResult;
using analysis::TestStatus;

const DerivedValue* derived(const TestResult& test, std::string_view what) {
  const auto found = std::ranges::find(test.derived, what, &DerivedValue::what);
  return found == test.derived.end() ? nullptr : &*found;
}

/// As many groups as fit run in the time of one; the next ones wait.
TestResult run_with_slots(double slots, test::FakeRunner& runner, bool quick) {
  runner.dispatch_ns = [slots](const KernelCase&, const Launch& launch) {
    return 50.0 * launch.trips * std::max(1.0, launch.groups / slots);
  };
  TestContext context{.runner = runner, .options = runner.options(), .quick = quick};
  const auto results = run_parallel(context);
  REQUIRE(results.size() == 1);
  return results.front();
}

TEST_CASE("half and nine tenths of the peak are read from the curve") {
  test::FakeRunner runner;
  const TestResult test = run_with_slots(768, runner, false);
  CHECK(test.status == TestStatus::kOk);
  REQUIRE(test.series.size() == 1);
  CHECK(test.series.front().points.front().x == 64);
  const DerivedValue* const half = derived(test, "items.50");
  const DerivedValue* const most = derived(test, "items.90");
  REQUIRE(half != nullptr);
  REQUIRE(most != nullptr);
  CHECK(half->value == doctest::Approx(64 * 384).epsilon(0.1));
  CHECK(most->value == doctest::Approx(64 * 691).epsilon(0.1));
}

TEST_CASE("a device with few groups to a dispatch gets no more") {
  test::FakeRunner runner;
  runner.device.max_groups_x = 100;
  const TestResult test = run_with_slots(16, runner, true);
  CHECK(test.series.front().points.back().x == 64 * 64);
}

TEST_CASE("a curve without a rise says nothing") {
  CHECK_FALSE(items_for({{64, 10}, {128, 20}}, 0.5));
  CHECK_FALSE(items_for({{64, 10}, {128, 10}, {256, 10}}, 0.5));
  const auto items = items_for({{64, 10}, {128, 20}, {256, 40}, {512, 40}}, 0.5);
  REQUIRE(items);
  CHECK(*items == doctest::Approx(128));
}

TEST_CASE("a wrong result is a failed test") {
  test::FakeRunner runner;
  runner.result = [](const KernelCase&, const Launch&) -> Status {
    return fail(ErrorCode::kCorrupt, "thread 3 is wrong");
  };
  const TestResult test = run_with_slots(16, runner, true);
  CHECK(test.status == TestStatus::kFailed);
  CHECK(test.why.find("thread 3") != std::string::npos);
}

TEST_CASE("work in flight is measured on a device") {
  const auto runner = test::bench_device_or_skip();
  if (!runner) {
    return;
  }
  TestContext context{.runner = *runner, .options = test::brief_options(), .quick = true};
  context.options.share_end_ns = 0;
  const auto results = run_parallel(context);
  REQUIRE(results.size() == 1);
  CAPTURE(results.front().why);
  CHECK(results.front().status == TestStatus::kOk);
  CHECK(results.front().result == analysis::Proof::kPassed);
}

}  // namespace
}  // namespace gputrace::bench
