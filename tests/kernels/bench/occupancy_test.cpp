#include "kernels/bench/tests/occupancy/occupancy.h"

#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>
#include <map>
#include <thread>

#include "kernels/bench/tests/occupancy/occupancy_cases.h"
#include "kernels/bench/tests/occupancy/occupancy_steps.h"
#include "tests/kernels/bench/bench_device.h"
#include "tests/kernels/bench/fake_runner.h"

using namespace gputrace;         // NOLINT(google-build-using-namespace)
using namespace gputrace::bench;  // NOLINT(google-build-using-namespace)

namespace {

/// Rounds of at most `slots` groups, each as long as its groups slow each other down.
double time_of(std::uint32_t groups, std::uint32_t slots, double contention) {
  double ns = 0;
  for (std::uint32_t left = groups; left > 0; left -= std::min(left, slots)) {
    ns += 300e3 * (1 + contention * std::min(left, slots) / slots);
  }
  return ns;
}

std::vector<std::byte> census(std::uint32_t live, std::uint32_t peak, std::uint32_t arrived) {
  std::vector<std::byte> bytes(16);
  const std::array<std::uint32_t, 3> words{live, peak, arrived};
  std::memcpy(bytes.data(), words.data(), sizeof(words));
  return bytes;
}

/// A runner that times as time_of() says and counts `peak` groups.
void imitate(test::FakeRunner& runner, std::uint32_t slots, std::uint32_t peak) {
  runner.dispatch_ns = [slots](const KernelCase&, const Launch& launch) {
    return 10e3 + time_of(launch.groups, slots, 0.3) * launch.trips / 1024;
  };
  runner.result = [peak](const KernelCase& kernel, const Launch& launch) -> Status {
    Outputs outputs;
    outputs.buffers.resize(4);
    const std::uint32_t seen = std::min(peak, launch.groups);
    outputs.buffers[0] = census(0, seen, launch.groups);
    // No lane has its result here: what counts is that the census was read before.
    outputs.buffers[3].resize(std::size_t{kernel.group_threads} * 4);
    const Status lanes = kernel.check(launch, outputs);
    static_cast<void>(lanes);
    return {};
  };
}

}  // namespace

TEST_CASE("steps find the slots at every strength of contention, powers of two or not") {
  for (const std::uint32_t slots : {8U, 12U, 100U, 256U, 384U, 1000U, 1024U, 2048U, 6144U}) {
    for (const double contention : {0.0, 0.1, 0.5, 1.5, 4.0}) {
      CAPTURE(slots);
      CAPTURE(contention);
      const auto steps = find_steps(
          [&](std::uint32_t groups) { return Result<double>(time_of(groups, slots, contention)); },
          16384);
      REQUIRE(steps);
      const Steps found = steps->value_or(Steps{});
      CHECK(found.slots > 0);
      CHECK(found.slots <= slots);
      CHECK(found.above > slots);
      CHECK(found.above - found.slots <= std::max(1U, slots / 32));
      CHECK(agree(slots, found));
      CHECK_FALSE(agree(slots / 2, found));
      CHECK_FALSE(agree(slots * 2, found));
    }
  }
}

TEST_CASE("without a second round there is no step, and an error ends the search") {
  const auto flat = find_steps([](std::uint32_t) { return Result<double>(1e6); }, 1024);
  REQUIRE(flat);
  CHECK_FALSE(flat->has_value());
  std::uint32_t largest = 0;
  const auto endless = find_steps(
      [&largest](std::uint32_t groups) {
        largest = std::max(largest, groups);
        return groups == 0 ? Result<double>(fail(ErrorCode::kIo, "no groups"))
                           : Result<double>(1e6);
      },
      std::numeric_limits<std::uint32_t>::max());
  REQUIRE(endless);
  CHECK_FALSE(endless->has_value());
  CHECK(largest == 0x8000'0000U);
  const auto lost = find_steps(
      [](std::uint32_t) -> Result<double> { return fail(ErrorCode::kIo, "lost"); }, 1024);
  REQUIRE_FALSE(lost);
  CHECK(lost.error().message == "lost");
}

TEST_CASE("groups that never left and lanes that did not dwell are found") {
  const auto cycle = std::make_shared<RandomCycle>(kDwellNodes, 3);
  const auto reading = std::make_shared<CensusReading>();
  const KernelCase kernel = occupancy_case({}, cycle, reading);
  const Launch launch{.groups = 9, .trips = 2, .repeats = 1};
  Outputs outputs;
  outputs.buffers.resize(4);
  for (std::uint32_t lane = 0; lane < 64; ++lane) {
    // Without words in registers the result is 1 ^ 2 ^ 3 ^ the end of the chase.
    const std::uint32_t end = cycle->at(cycle->position_of(0) + 32) * (kNodeBytes / 4);
    outputs.buffers[3].resize(256);
    std::memcpy(&outputs.buffers[3][lane * std::size_t{4}], &end, sizeof(end));
  }
  outputs.buffers[0] = census(0, 4, 9);
  CHECK(kernel.check(launch, outputs));
  CHECK(reading->peak == 4);
  for (const auto& wrong : {census(1, 4, 9), census(0, 4, 8), census(0, 0, 9), census(0, 10, 9)}) {
    outputs.buffers[0] = wrong;
    CHECK_FALSE(kernel.check(launch, outputs));
  }
  outputs.buffers[0] = census(0, 4, 9);
  outputs.buffers[3][40] ^= std::byte{1};
  CHECK_FALSE(kernel.check(launch, outputs));
}

TEST_CASE("every shape keeps its registers and counts its groups on a real device") {
  const auto runner = test::bench_device_or_skip();
  if (!runner) {
    return;
  }
  for (const KernelCase& kernel : occupancy_cases(runner->facts())) {
    CAPTURE(kernel.id);
    const auto prepared = runner->prepare(kernel);
    REQUIRE_MESSAGE(prepared, test::error_text(prepared));
    const Status exact = (*prepared)->check_result({.groups = 5, .trips = 9, .repeats = 2});
    CHECK_MESSAGE(exact, test::error_text(exact));
  }
}

TEST_CASE("on a software rasteriser the census counts threads, and steps are not read") {
  const auto runner = test::bench_device_or_skip();
  if (!runner) {
    return;
  }
  if (!runner->facts().is_cpu) {
    MESSAGE("skipped: ", runner->facts().listed.name, " is no software rasteriser");
    return;
  }
  TestContext context{.runner = *runner, .options = test::brief_options(), .quick = true};
  const auto results = run_occupancy(context);
  REQUIRE(results.size() == 3);
  for (const analysis::TestResult& test : results) {
    CAPTURE(test.id);
    CHECK_MESSAGE(test.status == analysis::TestStatus::kOk, test.why);
    REQUIRE(test.series.size() == 2);
    for (const analysis::BenchPoint& point : test.series[0].points) {
      CHECK(point.median.value_or(0) >= 1);
      CHECK(point.median.value_or(0) <= std::max(1U, std::thread::hardware_concurrency()));
    }
  }
}

TEST_CASE("census and steps that agree are a result, and suspect when they do not") {
  test::FakeRunner runner;
  TestContext context{.runner = runner, .options = runner.options(), .quick = false};
  SUBCASE("agree") {
    imitate(runner, 384, 384);
    const auto results = run_occupancy(context);
    REQUIRE(results.size() == 3);
    for (const analysis::TestResult& test : results) {
      CHECK_MESSAGE(test.status == analysis::TestStatus::kOk, test.why);
      CHECK(test.rate == analysis::Proof::kPassed);
      REQUIRE(test.series.size() == 2);
      CHECK(test.series[0].points[0].median.value_or(0) == 384);
      CHECK(test.series[1].points[0].p5.value_or(0) <= 384);
      CHECK(test.series[1].points[0].p95.value_or(0) >= 384);
    }
  }
  SUBCASE("differ") {
    imitate(runner, 384, 200);
    const auto results = run_occupancy(context);
    CHECK(results[0].status == analysis::TestStatus::kSuspect);
    CHECK(results[0].rate == analysis::Proof::kFailed);
    CHECK(results[0].series[0].points[0].why.find("200 groups") != std::string::npos);
  }
}

TEST_CASE("a simulated GPU is read by its times alone") {
  test::FakeRunner runner;
  runner.is_simulated = true;
  imitate(runner, 384, 1);
  TestContext context{.runner = runner, .options = runner.options(), .quick = true};
  const auto results = run_occupancy(context);
  REQUIRE(results.size() == 3);
  CHECK(results[0].status == analysis::TestStatus::kOk);
  CHECK(results[0].result == analysis::Proof::kNotDone);
  const analysis::BenchPoint& counted = results[0].series[0].points[0];
  CHECK(counted.status == analysis::TestStatus::kSkipped);
  const analysis::BenchPoint& timed = results[0].series[1].points[0];
  CHECK(timed.p5.value_or(0) <= 384);
  CHECK(timed.p95.value_or(0) >= 384);
}
