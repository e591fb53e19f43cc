#include <doctest/doctest.h>

#include <algorithm>

#include "kernels/bench/tests/bandwidth/bandwidth.h"
#include "kernels/bench/tests/bandwidth/bandwidth_plan.h"
#include "tests/kernels/bench/bench_device.h"
#include "tests/kernels/bench/fake_runner.h"

using namespace gputrace;         // NOLINT(google-build-using-namespace)
using namespace gputrace::bench;  // NOLINT(google-build-using-namespace)

namespace {

constexpr std::uint64_t kKiB = 1024;
constexpr std::uint64_t kMiB = 1024 * kKiB;

std::uint64_t largest(const vulkan::DeviceFacts& facts, bool quick) {
  std::uint64_t bytes = 0;
  for (const BandwidthPoint& point : bandwidth_points(facts, quick)) {
    bytes = std::max(bytes, point.working_set * (point.own ? own_groups(facts) : 1));
  }
  return bytes;
}

double bytes_of(const KernelCase& kernel, const Launch& launch) {
  return threads_of(kernel, launch) * launch.trips *
         (kernel.read_bytes_per_trip + kernel.written_bytes_per_trip);
}

/// 100 GB/s.
void imitate(test::FakeRunner& runner) {
  runner.dispatch_ns = [](const KernelCase& kernel, const Launch& launch) {
    return bytes_of(kernel, launch) / 100;
  };
}

}  // namespace

TEST_CASE("working sets keep to 256 MiB, to ranges and to a part of the memory") {
  test::FakeRunner runner;
  vulkan::DeviceFacts& facts = runner.device;
  CHECK(largest(facts, false) == 256 * kMiB);
  CHECK(largest(facts, true) == 128 * kMiB);
  facts.max_storage_range = 5 * kMiB;
  CHECK(largest(facts, false) == 4 * kMiB);
  facts.memory_bytes = 8 * kMiB;
  CHECK(largest(facts, false) == kMiB);
  facts.memory_bytes = 1ULL << 34U;
  facts.max_storage_range = 1ULL << 32U;
  facts.is_cpu = true;
  CHECK(largest(facts, false) == 64 * kMiB);
}

TEST_CASE("a quick skeleton has every stream in both kinds of region, near and far") {
  test::FakeRunner runner;
  runner.device.cores = 12;
  for (const Stream stream : kBandwidthStreams) {
    for (const bool own : {true, false}) {
      std::vector<std::uint64_t> first;
      std::vector<std::uint64_t> all;
      for (const BandwidthPoint& point : bandwidth_points(runner.device, true)) {
        if (point.stream == stream && point.own == own) {
          all.push_back(point.working_set);
          if (point.rank == 0) {
            first.push_back(point.working_set);
          }
        }
      }
      CAPTURE(std::string(name_of(stream)));
      CAPTURE(own);
      CHECK(std::is_sorted(all.begin(), all.end()));
      REQUIRE_FALSE(first.empty());
      CHECK(first.front() == 16 * kKiB);
      CHECK(first.size() < all.size());
      CHECK((own || first.back() == 128 * kMiB));
    }
  }
  CHECK(std::ranges::count_if(bandwidth_points(runner.device, true),
                              [](const BandwidthPoint& point) { return point.rank == 0; }) < 25);
}

TEST_CASE("a copy's working set is both of its buffers") {
  test::FakeRunner runner;
  for (const BandwidthPoint& point : bandwidth_points(runner.device, true)) {
    CHECK(point.working_set == point.region_bytes * (point.stream == Stream::kCopy ? 2 : 1));
  }
}

TEST_CASE("GB/s are of what the program asks for, read and written together") {
  test::FakeRunner runner;
  runner.device.cores = 12;
  imitate(runner);
  TestContext context{.runner = runner, .options = runner.options(), .quick = true};
  const auto results = run_bandwidth(context);
  REQUIRE(results.size() == 5);
  CHECK(results[0].id == "bandwidth.read");
  CHECK(results[3].id == "bandwidth.mix25");
  for (const analysis::TestResult& test : results) {
    CAPTURE(test.id);
    CHECK_MESSAGE(test.status == analysis::TestStatus::kOk, test.why);
    REQUIRE(test.series.size() == 2);
    CHECK(test.series[0].name == "own");
    CHECK(test.series[1].name == "shared");
    for (const analysis::BenchSeries& series : test.series) {
      for (const analysis::BenchPoint& point : series.points) {
        CHECK(point.median.value_or(0) == doctest::Approx(100).epsilon(0.001));
      }
    }
    CHECK(test.derived.empty());  // no sensor tells a clock
  }
}

TEST_CASE("points for which the share has no time are left out, and each table says its own") {
  test::FakeRunner runner;
  imitate(runner);
  TestContext context{.runner = runner, .options = runner.options(), .quick = true};
  context.options.share_end_ns = runner.clock.now_ns();
  const auto results = run_bandwidth(context);
  REQUIRE(results.size() == 5);
  const auto points = bandwidth_points(runner.device, true);
  for (std::size_t i = 0; i < results.size(); ++i) {
    CAPTURE(results[i].id);
    CHECK(results[i].status == analysis::TestStatus::kOk);
    const auto of_test = std::ranges::count(points, kBandwidthStreams[i], &BandwidthPoint::stream);
    CHECK(results[i].why.find("of " + std::to_string(of_test) + " points left out") !=
          std::string::npos);
    CHECK_FALSE(results[i].series.empty());
  }
}

TEST_CASE("without timestamps the launch is subtracted") {
  test::FakeRunner runner;
  imitate(runner);
  runner.has_timestamps = false;
  runner.dispatch_ns = [](const KernelCase& kernel, const Launch& launch) {
    return 100e3 + bytes_of(kernel, launch) / 100;
  };
  TestContext context{.runner = runner, .options = runner.options(), .quick = true};
  context.options.share_end_ns = runner.clock.now_ns();
  for (const analysis::TestResult& test : run_bandwidth(context)) {
    CAPTURE(test.id);
    for (const analysis::BenchPoint& point : test.series[0].points) {
      CHECK(point.median.value_or(0) == doctest::Approx(100).epsilon(0.005));
    }
  }
}

TEST_CASE("more bytes than lanes can ask for are suspect where a rate of additions is known") {
  test::FakeRunner runner;
  imitate(runner);
  TestContext context{.runner = runner, .options = runner.options(), .quick = true};
  context.options.share_end_ns = runner.clock.now_ns();
  context.additions_per_ns = 1;  // 100 GB/s are 6.25 loads of 16 bytes a nanosecond
  const auto results = run_bandwidth(context);
  CHECK(results[0].status == analysis::TestStatus::kSuspect);
  CHECK(results[0].rate == analysis::Proof::kFailed);
}

TEST_CASE("a wrong result fails the point, and a lost device ends the test") {
  test::FakeRunner runner;
  imitate(runner);
  TestContext context{.runner = runner, .options = runner.options(), .quick = true};
  context.options.share_end_ns = runner.clock.now_ns();
  SUBCASE("wrong") {
    runner.result = [](const KernelCase& kernel, const Launch&) -> Status {
      return fail(ErrorCode::kCorrupt, kernel.id + ": the CPU has another sum");
    };
    for (const analysis::TestResult& test : run_bandwidth(context)) {
      CHECK(test.status == analysis::TestStatus::kFailed);
      CHECK(test.why.find("another sum") != std::string::npos);
    }
  }
  SUBCASE("lost") {
    runner.broken = Error{.code = ErrorCode::kIo, .message = "the device was lost"};
    const auto results = run_bandwidth(context);
    CHECK(results[0].status == analysis::TestStatus::kFailed);
    CHECK(results[0].why.find("lost") != std::string::npos);
  }
}

TEST_CASE("reads, writes and mixes are measured on a real device") {
  const auto runner = test::bench_device_or_skip();
  if (!runner) {
    return;
  }
  TestContext context{.runner = *runner, .options = test::brief_options(), .quick = true};
  context.options.share_end_ns = 0;
  for (const analysis::TestResult& test : run_bandwidth(context)) {
    CAPTURE(test.id);
    CHECK_MESSAGE(test.status == analysis::TestStatus::kOk, test.why);
    CHECK(test.result == analysis::Proof::kPassed);
  }
}
