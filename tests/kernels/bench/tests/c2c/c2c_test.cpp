#include "kernels/bench/tests/c2c/c2c.h"

#include <doctest/doctest.h>

#include <cstring>
#include <random>

#include "kernels/bench/cases/case_data.h"
#include "kernels/bench/tests/c2c/c2c_cases.h"
#include "kernels/bench/tests/c2c/c2c_clusters.h"
#include "tests/kernels/bench/bench_device.h"
#include "tests/kernels/bench/fake_runner.h"

using namespace gputrace;         // NOLINT(google-build-using-namespace)
using namespace gputrace::bench;  // NOLINT(google-build-using-namespace)

namespace {

Outputs control_of(bool global, const HandOvers& words) {
  Outputs outputs;
  if (global) {
    outputs.buffers.emplace_back(256);
  }
  std::vector<std::byte>& control = outputs.buffers.emplace_back(64);
  const std::size_t first = global ? 3 : 0;
  write_at(std::span(control), first, words.dispatches);
  write_at(std::span(control), first + 1, words.missed);
  write_at(std::span(control), first + 2, words.unfinished);
  write_at(std::span(control), first + 3, words.handed);
  for (std::size_t i = 0; i < 2; ++i) {
    write_at(std::span(control), first + 4 + i, words.swaps.at(i));
    write_at(std::span(control), first + 6 + i, words.tries.at(i));
  }
  return outputs;
}

constexpr Launch kLaunch{.groups = 2, .trips = 10, .repeats = 3};
constexpr HandOvers kAllDone{.dispatches = 3,
                             .missed = 0,
                             .unfinished = 0,
                             .handed = 60,
                             .swaps = {30, 30},
                             .tries = {64, 56}};

/// Groups 2k and 2k + 1 share a core, and four cores an array.
double time_between(std::uint32_t first, std::uint32_t second) {
  if (first / 2 == second / 2) {
    return 60;
  }
  return first / 8 == second / 8 ? 150 : 400;
}

std::vector<double> normal(std::size_t count, double mean, double spread, std::uint64_t seed) {
  std::mt19937_64 random(seed);
  std::normal_distribution<double> noise(0, spread);
  std::vector<double> values(count);
  for (double& value : values) {
    value = mean * (1 + noise(random));
  }
  return values;
}

}  // namespace

TEST_CASE("every hand-over of every dispatch is counted") {
  for (const bool global : {true, false}) {
    const KernelCase kernel = global ? c2c_global_case(vulkan::DeviceFacts{}, 0, 1)
                                     : c2c_local_case(vulkan::DeviceFacts{}, false);
    CHECK(kernel.check(kLaunch, control_of(global, kAllDone)));
    HandOvers lost = kAllDone;
    lost.handed = 59;
    const Status wrong = kernel.check(kLaunch, control_of(global, lost));
    REQUIRE_FALSE(wrong);
    CHECK(wrong.error().code == ErrorCode::kCorrupt);
    lost = kAllDone;
    lost.swaps[1] = 29;
    CHECK_FALSE(kernel.check(kLaunch, control_of(global, lost)));
  }
  CHECK(kAllDone.failed_tries_per_swap() == doctest::Approx(1));
}

TEST_CASE("a partner that never came, and tries that were spent, are named") {
  const KernelCase kernel = c2c_global_case(vulkan::DeviceFacts{}, 0, 1);
  HandOvers alone = kAllDone;
  alone.missed = 1;
  const Status missed = kernel.check(kLaunch, control_of(true, alone));
  REQUIRE_FALSE(missed);
  CHECK(missed.error().code == ErrorCode::kUnsupported);
  CHECK(missed.error().message.find("partner never came") != std::string::npos);
  HandOvers spent = kAllDone;
  spent.unfinished = 2;
  const Status unfinished = kernel.check(kLaunch, control_of(true, spent));
  REQUIRE_FALSE(unfinished);
  CHECK(unfinished.error().message.find("spent all their tries") != std::string::npos);
}

TEST_CASE("a group whose partner was never launched ends within its budget and says why") {
  const auto runner = test::bench_device_or_skip();
  if (!runner) {
    return;
  }
  const auto prepared = runner->prepare(c2c_global_case(runner->facts(), 0, 1));
  REQUIRE_MESSAGE(prepared, test::error_text(prepared));
  const Status alone = (*prepared)->check_result({.groups = 1, .trips = 1000, .repeats = 2});
  REQUIRE_FALSE(alone);
  CHECK(alone.error().code == ErrorCode::kUnsupported);
  CHECK(alone.error().message.find("in 2 of 2 dispatches") != std::string::npos);
  // The same twice on one set of buffers: what was given up leaves nothing behind.
  REQUIRE((*prepared)->run({.groups = 1, .trips = 1000, .repeats = 1}));
  REQUIRE((*prepared)->run({.groups = 1, .trips = 1000, .repeats = 2}));
  const auto outputs = (*prepared)->read_back();
  REQUIRE(outputs);
  const HandOvers found = read_hand_overs(*outputs);
  CHECK(found.dispatches == 3);
  CHECK(found.missed == 3);
  CHECK(found.swaps[0] == 0);
}

TEST_CASE("two groups finish or give up, and are counted either way") {
  const auto runner = test::bench_device_or_skip();
  if (!runner) {
    return;
  }
  const auto prepared = runner->prepare(c2c_global_case(runner->facts(), 0, 1));
  REQUIRE_MESSAGE(prepared, test::error_text(prepared));
  const Status both = (*prepared)->check_result({.groups = 2, .trips = 37, .repeats = 2});
  // On one thread, or on a loaded machine, the two may not run side by side.
  CHECK((both || both.error().code == ErrorCode::kUnsupported));
}

TEST_CASE("two lanes of one wave hand a word to and fro on a real device") {
  const auto runner = test::bench_device_or_skip();
  if (!runner) {
    return;
  }
  const auto prepared = runner->prepare(c2c_local_case(runner->facts(), true));
  REQUIRE_MESSAGE(prepared, test::error_text(prepared));
  const Status both = (*prepared)->check_result({.groups = 1, .trips = 100, .repeats = 2});
  CHECK_MESSAGE(both, test::error_text(both));
}

TEST_CASE("a software rasteriser of the limited kind is said to be not measurable") {
  test::FakeRunner runner;
  runner.device.is_cpu = true;
  runner.device.loop_trip_limit = 65535;
  TestContext context{.runner = runner, .options = runner.options(), .quick = true};
  const auto results = run_c2c(context);
  REQUIRE(results.size() == 2);
  CHECK(results[0].id == "c2c.global");
  CHECK(results[0].status == analysis::TestStatus::kSkipped);
  CHECK(results[0].why.find("Mesa 25") != std::string::npos);
  // Waves of a group are coroutines there: none may wait for another.
  REQUIRE(results[1].series.size() == 2);
  CHECK(results[1].series[0].points[0].status == analysis::TestStatus::kSkipped);
  CHECK(results[1].series[0].points[0].why.find("one after the other") != std::string::npos);
}

TEST_CASE("pairs are a matrix, its times are told apart, and launches are not part of them") {
  test::FakeRunner runner;
  runner.device.cores = 12;
  runner.dispatch_ns = [](const KernelCase& kernel, const Launch& launch) {
    std::uint32_t first = 0;
    std::uint32_t second = 1;
    const vulkan::PushConstants push = kernel.push(launch, {});
    if (kernel.id.starts_with("c2c.global")) {
      first = read_at<std::uint32_t>(push, 1);
      second = read_at<std::uint32_t>(push, 2);
    }
    return 500e3 + 2.0 * launch.trips * time_between(first, second);
  };
  TestContext context{.runner = runner, .options = runner.options(), .quick = false};
  const auto results = run_c2c(context);
  REQUIRE(results.size() == 2);
  const analysis::TestResult& global = results[0];
  CHECK_MESSAGE(global.status == analysis::TestStatus::kOk, global.why);
  REQUIRE(global.series.size() == 23);
  CHECK(global.series[0].name == "group 0");
  CHECK(global.series[0].points.size() == 23);
  CHECK(global.series[22].points.size() == 1);
  for (const analysis::BenchPoint& point : global.series[0].points) {
    CHECK(point.median.value_or(0) ==
          doctest::Approx(time_between(0, static_cast<std::uint32_t>(point.x))).epsilon(0.01));
  }
  std::vector<std::string> names;
  names.reserve(global.derived.size());
  for (const analysis::DerivedValue& derived : global.derived) {
    names.push_back(derived.what);
  }
  CHECK(names == std::vector<std::string>{"same core", "same array", "far"});
  CHECK(results[1].series[0].name == "two waves");
  CHECK(results[1].series[1].name == "two lanes of one wave");
}

TEST_CASE("a quick run asks for the pairs of one group, the nearest first") {
  test::FakeRunner runner;
  runner.device.cores = 12;
  runner.dispatch_ns = [](const KernelCase&, const Launch& launch) {
    return 1e4 + 200.0 * launch.trips;
  };
  TestContext context{.runner = runner, .options = runner.options(), .quick = true};
  context.options.share_end_ns = runner.clock.now_ns();
  const auto results = run_c2c(context);
  REQUIRE(results[0].series.size() == 1);
  CHECK(results[0].series[0].points.size() == 1);
  CHECK(results[0].series[0].points[0].x == 1);
  CHECK(results[0].why.find("left out") != std::string::npos);
}

TEST_CASE("times that do not grow with the swaps are no time of a hand-over") {
  test::FakeRunner runner;
  TestContext context{.runner = runner, .options = runner.options(), .quick = true};
  const auto results = run_c2c(context);
  CHECK(results[0].status == analysis::TestStatus::kFailed);
  CHECK(results[0].why.find("no time of a hand-over") != std::string::npos);
}

TEST_CASE("clusters are found where there are any, and noise is none") {
  for (std::uint64_t seed = 1; seed <= 20; ++seed) {
    CAPTURE(seed);
    auto three = normal(12, 60, 0.02, seed);
    const auto near = normal(60, 150, 0.03, seed + 100);
    const auto far = normal(204, 400, 0.03, seed + 200);
    three.insert(three.end(), near.begin(), near.end());
    three.insert(three.end(), far.begin(), far.end());
    const auto clusters = cluster_times(three);
    REQUIRE(clusters.size() == 3);
    CHECK(clusters[0].pairs == 12);
    CHECK(clusters[1].pairs == 60);
    CHECK(clusters[0].name == "same core");
    CHECK(clusters[2].median_ns == doctest::Approx(400).epsilon(0.02));

    const auto one = cluster_times(normal(276, 400, 0.05, seed));
    REQUIRE(one.size() == 1);
    CHECK(one[0].name == "all");
    CHECK(one[0].pairs == 276);

    auto two = normal(100, 100, 0.02, seed);
    const auto slow = normal(100, 200, 0.02, seed + 1);
    two.insert(two.end(), slow.begin(), slow.end());
    REQUIRE(cluster_times(two).size() == 2);
    CHECK(cluster_times(two)[0].name == "near");
  }
}

TEST_CASE("an even spread and two disturbed pairs are no clusters") {
  std::vector<double> even;
  even.reserve(100);
  for (int i = 0; i < 100; ++i) {
    even.push_back(100 + i);
  }
  CHECK(cluster_times(even).size() == 1);
  auto disturbed = normal(200, 100, 0.01, 3);
  disturbed.push_back(900);
  disturbed.push_back(950);
  for (const TimeCluster& cluster : cluster_times(disturbed)) {
    CHECK(cluster.pairs > 2);
  }
  CHECK(cluster_times({100, 100, 100}).empty());
  CHECK(cluster_times(std::vector<double>(50, 100)).size() == 1);
}
