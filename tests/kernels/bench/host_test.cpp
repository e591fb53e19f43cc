#include "kernels/bench/tests/host/host.h"

#include <doctest/doctest.h>

#include <algorithm>
#include <map>

#include "kernels/bench/cases/case_data.h"
#include "kernels/bench/tests/copy/cpu_cores.h"
#include "kernels/bench/tests/host/host_cases.h"
#include "kernels/bench/tests/host/host_direct.h"
#include "tests/kernels/bench/bench_device.h"
#include "tests/kernels/bench/case_device.h"
#include "tests/kernels/bench/fake_runner.h"

using namespace gputrace;         // NOLINT(google-build-using-namespace)
using namespace gputrace::bench;  // NOLINT(google-build-using-namespace)
using analysis::TestResult;
using analysis::TestStatus;

namespace {

std::map<std::string, TestResult> by_id(std::vector<TestResult> results) {
  std::map<std::string, TestResult> ids;
  for (TestResult& test : results) {
    ids.emplace(test.id, std::move(test));
  }
  return ids;
}

bool derives(const TestResult& test, std::string_view what) {
  return std::ranges::find(test.derived, what, &analysis::DerivedValue::what) != test.derived.end();
}

/// Other programs on the processor may hide what a dispatch takes, and then the figure is missing.
bool lacks_time(std::string_view why) {
  return why.find("no time of ") != std::string_view::npos;
}

}  // namespace

TEST_CASE("a word is seen as it is, as often as it is looked at") {
  const auto runner = test::bench_device_or_skip();
  if (!runner) {
    return;
  }
  const auto prepared = runner->prepare(touch_case(8192, 2047));
  REQUIRE_MESSAGE(prepared, test::error_text(prepared));
  const Status right = (*prepared)->check_result({.groups = 1, .trips = 1, .repeats = 5});
  CHECK_MESSAGE(right, test::error_text(right));
}

TEST_CASE("another word, and a dispatch more or less, are wrong") {
  const KernelCase kernel = touch_case(4096, 9);
  Outputs outputs;
  outputs.buffers = {{}, std::vector<std::byte>(kSeenBytes)};
  write_at(outputs.buffers[1], kSeenWord, pattern_word(9));
  write_at(outputs.buffers[1], kCountWord, 3U);
  CHECK(kernel.check({.repeats = 3}, outputs));
  CHECK(!kernel.check({.repeats = 2}, outputs));
  CHECK(!kernel.check({.repeats = 4}, outputs));
  write_at(outputs.buffers[1], kSeenWord, pattern_word(8));
  const Status wrong = kernel.check({.repeats = 3}, outputs);
  REQUIRE(!wrong);
  CHECK(wrong.error().code == ErrorCode::kCorrupt);
}

TEST_CASE("a kernel that nobody asks gives up when its looks are spent, and says how many") {
  const auto runner = test::bench_device_or_skip();
  if (!runner) {
    return;
  }
  const auto prepared = runner->prepare(swap_case(1000));
  REQUIRE_MESSAGE(prepared, test::error_text(prepared));
  const Launch launch{.groups = 1, .trips = kMaxTrips, .repeats = 1};
  const Status right = (*prepared)->check_result(launch);
  CHECK_MESSAGE(right, test::error_text(right));
  const auto time = (*prepared)->run(launch);
  REQUIRE(time);
  CHECK(time->wall_ns < 30e9);
}

TEST_CASE("what is touched is as large as ranges and memory allow") {
  constexpr std::uint64_t kMiB = std::uint64_t{1} << 20U;
  vulkan::DeviceFacts facts = test::integrated_gpu();
  facts.memory_kinds = {{.host_visible = true, .host_cached = true, .heap_bytes = 8192 * kMiB}};
  CHECK(touch_bytes(facts) == 256 * kMiB);
  facts.max_storage_range = 128 * kMiB - 1;  // no whole pages
  CHECK(touch_bytes(facts) == 128 * kMiB - 4096);
  facts.memory_kinds.front().heap_bytes = 64 * kMiB;
  CHECK(touch_bytes(facts) == 16 * kMiB);
  facts.memory_kinds.front().heap_bytes = 0;
  CHECK(touch_bytes(facts) == 4096);
}

TEST_CASE("bench host on a real device: every part has figures or says why not") {
  const auto runner = test::bench_device_or_skip();
  if (!runner) {
    return;
  }
  TestContext context{.runner = *runner, .options = test::brief_options(), .quick = true};
  const auto tests = by_id(run_host(context));
  REQUIRE(tests.size() == 5);
  for (const auto& [id, test] : tests) {
    CAPTURE(id);
    if (test.status == TestStatus::kSkipped) {
      // A driver that runs kernels in the call, a busy machine.
      CHECK_MESSAGE((id == "host.swap" ? !test.why.empty() : lacks_time(test.why)), test.why);
      continue;
    }
    CHECK_MESSAGE(test.status == TestStatus::kOk, test.why);
    CHECK(test.result == analysis::Proof::kPassed);
    REQUIRE_FALSE(test.series.empty());
    for (const analysis::BenchSeries& series : test.series) {
      CAPTURE(series.name);
      CHECK(std::ranges::is_sorted(series.points, {}, &analysis::BenchPoint::x));
      for (const analysis::BenchPoint& point : series.points) {
        CHECK_MESSAGE((point.median ? *point.median > 0 : lacks_time(point.why)), point.why);
      }
    }
  }
  CHECK(derives(tests.at("host.launch"), "host.submit"));
  for (const NamedCore& core : cores_to_compare()) {
    const auto& series = tests.at("host.launch").series;
    const auto from =
        std::ranges::find(series, "empty, " + core.name, &analysis::BenchSeries::name);
    REQUIRE_MESSAGE(from != series.end(), core.name);
    CHECK(from->points.front().median.value_or(0) > 0);
  }
  for (const char* dispatch : {"host.dispatch", "host.dispatch.barrier"}) {
    const TestResult& launch = tests.at("host.launch");
    CHECK_MESSAGE((derives(launch, dispatch) || lacks_time(launch.why)), launch.why);
  }
  CHECK(derives(tests.at("host.touch"), "host.touch.copy"));
  CHECK(tests.at("host.touch").series.front().points.back().x ==
        static_cast<double>(touch_bytes(runner->facts())));
}

TEST_CASE("a signal ends bench host between its parts") {
  const auto runner = test::bench_device_or_skip();
  if (!runner) {
    return;
  }
  TestContext context{.runner = *runner, .options = test::brief_options(), .quick = true};
  context.options.cancelled = [] { return true; };
  CHECK(run_host(context).empty());
}

TEST_CASE("a simulated GPU has no host memory, and says so") {
  test::FakeRunner runner;
  runner.is_simulated = true;
  TestContext context{.runner = runner, .options = runner.options(), .quick = true};
  const auto results = run_host(context);
  REQUIRE(results.size() == 1);
  CHECK(results.front().status == TestStatus::kSkipped);
  CHECK(results.front().why.find("simulated") != std::string::npos);
  runner.is_simulated = false;
  CHECK(run_host(context).front().status == TestStatus::kFailed);
}
