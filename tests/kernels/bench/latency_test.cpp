#include "kernels/bench/tests/latency/latency.h"

#include <doctest/doctest.h>

#include <algorithm>
#include <bit>
#include <set>

#include "kernels/bench/tests/latency/latency_cases.h"
#include "tests/kernels/bench/bench_device.h"
#include "tests/kernels/bench/fake_runner.h"

using namespace gputrace;         // NOLINT(google-build-using-namespace)
using namespace gputrace::bench;  // NOLINT(google-build-using-namespace)

namespace {

constexpr std::uint64_t kKiB = 1024;

const analysis::BenchSeries& series_of(const analysis::TestResult& test, std::string_view name) {
  const auto place = std::find_if(test.series.begin(), test.series.end(),
                                  [&](const auto& series) { return series.name == name; });
  REQUIRE_MESSAGE(place != test.series.end(), test.id, " has no series ", std::string(name));
  return *place;
}

const analysis::TestResult& result_of(const std::vector<analysis::TestResult>& results,
                                      std::string_view id) {
  const auto place =
      std::find_if(results.begin(), results.end(), [&](const auto& test) { return test.id == id; });
  REQUIRE_MESSAGE(place != results.end(), "no result ", std::string(id));
  return *place;
}

/// 10 ns a hop up to 64 KiB, 100 ns above; and 30 us of launch.
double two_levels(const KernelCase& kernel, const Launch& launch) {
  const bool small = kernel.stimulus(launch).footprint_bytes <= 65536;
  return 30e3 + kHopsPerTrip * static_cast<double>(launch.trips) * (small ? 10 : 100);
}

struct TwoLevels {
  TwoLevels() {
    runner.dispatch_ns = two_levels;
    runner.device.max_image_side = 16384;
  }
  test::FakeRunner runner;
};

std::vector<std::uint64_t> bytes_of(const std::vector<ChaseSize>& sizes) {
  std::vector<std::uint64_t> bytes;
  bytes.reserve(sizes.size());
  for (const ChaseSize& size : sizes) {
    bytes.push_back(size.bytes);
  }
  return bytes;
}

std::size_t measured(const std::vector<analysis::TestResult>& results) {
  std::size_t points = 0;
  for (const analysis::TestResult& test : results) {
    for (const analysis::BenchSeries& series : test.series) {
      const bool counts = !series.name.ends_with("minimum");
      points += counts ? static_cast<std::size_t>(std::ranges::count_if(
                             series.points, [](const auto& point) { return !!point.median; }))
                       : 0;
    }
  }
  return points;
}

}  // namespace

TEST_CASE("the launch is subtracted and levels are told apart on every path") {
  TwoLevels levels;
  test::FakeRunner& runner = levels.runner;
  TestContext context{.runner = runner, .options = runner.options(), .quick = true};
  const auto results = run_latency(context);
  REQUIRE(results.size() == kChasePaths.size() + 1);
  for (const Path path : kChasePaths) {
    const auto& test = result_of(results, "latency." + std::string(name_of(path)));
    CAPTURE(test.id);
    CHECK(test.status == analysis::TestStatus::kOk);
    CHECK(test.result == analysis::Proof::kPassed);
    CHECK(test.rate == analysis::Proof::kPassed);
    const auto& plain = series_of(test, "1 chain");
    CHECK(plain.points.size() == chase_sizes(path, runner.device, true).size());
    for (const analysis::BenchPoint& point : plain.points) {
      CAPTURE(point.x);
      CHECK(point.median.value_or(0) ==
            doctest::Approx(point.x <= 65536 ? 10 : 100).epsilon(0.0001));
    }
    CHECK(series_of(test, "1 chain, minimum").points.size() == plain.points.size());
  }
  CHECK(series_of(results[0], "1 chain").points.size() == 17);  // 1 KiB to 64 MiB
  CHECK(series_of(results[0], "full wave").points.size() == 3);
  CHECK(series_of(result_of(results, "latency.uniform"), "8 chains").points.size() == 3);
  CHECK(results.back().id == "latency.hops");
  CHECK(results.back().status == analysis::TestStatus::kSkipped);
  CHECK(results.back().why.find("VK_KHR_shader_clock") != std::string::npos);
}

TEST_CASE("without timestamps the wall clock's two lengths give the same figure") {
  TwoLevels levels;
  test::FakeRunner& runner = levels.runner;
  runner.has_timestamps = false;
  TestContext context{.runner = runner, .options = runner.options(), .quick = true};
  const auto results = run_latency(context);
  for (const analysis::BenchPoint& point : series_of(results[0], "1 chain").points) {
    CHECK(point.median.value_or(0) == doctest::Approx(point.x <= 65536 ? 10 : 100).epsilon(0.0001));
  }
}

TEST_CASE("a share that is spent leaves every path its first sizes, the vector path more") {
  TwoLevels levels;
  test::FakeRunner& runner = levels.runner;
  MeasurementOptions options = runner.options();
  options.share_end_ns = runner.clock.now_ns();
  TestContext context{.runner = runner, .options = options, .quick = true};
  const auto results = run_latency(context);
  for (const Path path : kChasePaths) {
    const auto& test = result_of(results, "latency." + std::string(name_of(path)));
    CAPTURE(test.id);
    std::vector<double> first;
    for (const ChaseSize& size : chase_sizes(path, runner.device, true)) {
      if (size.rank == 0) {
        first.push_back(static_cast<double>(size.bytes));
      }
    }
    std::vector<double> have;
    for (const analysis::BenchPoint& point : series_of(test, "1 chain").points) {
      have.push_back(point.x);
    }
    CHECK(have == first);
    CHECK(have.size() >= (path == Path::kVector ? 8 : 2));
    CHECK(test.why.find("points left out") != std::string::npos);
  }
}

TEST_CASE("hops faster than any cache are suspect: the loads were left out") {
  TwoLevels levels;
  test::FakeRunner& runner = levels.runner;
  runner.dispatch_ns = [](const KernelCase&, const Launch& launch) {
    return 30e3 + 0.1 * launch.trips;
  };
  TestContext context{.runner = runner, .options = runner.options(), .quick = true};
  const auto results = run_latency(context);
  CHECK(results[0].status == analysis::TestStatus::kSuspect);
  CHECK(results[0].rate == analysis::Proof::kFailed);
}

TEST_CASE("dispatches that take as long whatever their hops leave no figure, and say so") {
  TwoLevels levels;
  test::FakeRunner& runner = levels.runner;
  runner.dispatch_ns = [](const KernelCase&, const Launch&) { return 1e6; };
  TestContext context{.runner = runner, .options = runner.options(), .quick = true};
  const auto results = run_latency(context);
  CHECK(results[0].status == analysis::TestStatus::kSkipped);
  CHECK(results[0].why.find("no time of a hop follows") != std::string::npos);
  for (const analysis::BenchPoint& point : series_of(results[0], "1 chain").points) {
    CHECK_FALSE(point.median);
    CHECK(point.status == analysis::TestStatus::kSkipped);
  }
}

TEST_CASE("a wrong result fails the point and is never measured") {
  TwoLevels levels;
  test::FakeRunner& runner = levels.runner;
  runner.result = [](const KernelCase& kernel, const Launch&) -> Status {
    return kernel.id == "latency.vector.c1.64KiB" ? fail(ErrorCode::kCorrupt, "off by one")
                                                  : Status();
  };
  TestContext context{.runner = runner, .options = runner.options(), .quick = true};
  const auto results = run_latency(context);
  CHECK(results[0].status == analysis::TestStatus::kFailed);
  CHECK(results[0].result == analysis::Proof::kFailed);
  CHECK(results[0].why == "off by one");
  for (const analysis::BenchPoint& point : series_of(results[0], "1 chain").points) {
    CHECK(point.median.has_value() == (point.x != 65536));
  }
  CHECK(results[1].status == analysis::TestStatus::kOk);
}

TEST_CASE("a lost device ends the test, and what was measured before stays") {
  TwoLevels levels;
  test::FakeRunner& runner = levels.runner;
  int runs = 0;
  runner.dispatch_ns = [&](const KernelCase& kernel, const Launch& launch) {
    if (++runs == 400) {
      runner.broken = Error{ErrorCode::kIo, "the device was lost"};
    }
    return two_levels(kernel, launch);
  };
  TestContext context{.runner = runner, .options = runner.options(), .quick = true};
  const auto results = run_latency(context);
  REQUIRE_FALSE(results.empty());
  CHECK(std::ranges::any_of(results, [](const analysis::TestResult& test) {
    return test.status == analysis::TestStatus::kFailed &&
           test.why.find("the device was lost") != std::string::npos;
  }));
  CHECK(measured(results) > 0);
  CHECK(runs == 400);
}

TEST_CASE("Ctrl-C keeps the points that are done") {
  TwoLevels levels;
  test::FakeRunner& runner = levels.runner;
  MeasurementOptions options = runner.options();
  std::size_t done = 0;
  options.progress = [&](std::size_t now, std::size_t, double) { done = now; };
  options.cancelled = [&] { return done >= 3; };
  TestContext context{.runner = runner, .options = options, .quick = true};
  const auto results = run_latency(context);
  for (const analysis::TestResult& test : results) {
    CHECK((test.status == analysis::TestStatus::kOk ||
           test.status == analysis::TestStatus::kSkipped));
  }
  CHECK(measured(results) == 3);
}

TEST_CASE("working sets stay within an eighth of the memory and within the ranges of their path") {
  vulkan::DeviceFacts facts;
  facts.max_storage_range = 128ULL << 20U;
  facts.memory_bytes = 1ULL << 30U;
  const auto largest = [&](Path path, bool quick) {
    return chase_sizes(path, facts, quick).back().bytes;
  };
  CHECK(chase_sizes(Path::kVector, facts, false).front().bytes == kKiB);
  CHECK(largest(Path::kVector, false) == 128ULL << 20U);
  CHECK(largest(Path::kVector, true) == 64ULL << 20U);
  // Nothing is offered: no sizes, and no crash.
  for (const Path path :
       {Path::kConstant, Path::kTexel, Path::kImage, Path::kSampled, Path::kLocal}) {
    CHECK(chase_sizes(path, facts, true).empty());
  }
  facts.max_uniform_range = 16384;
  facts.max_texel_elements = 65536;
  facts.max_image_side = 300;
  facts.max_shared_bytes = 49152;
  CHECK(largest(Path::kConstant, true) == 16 * kKiB);
  CHECK(largest(Path::kTexel, true) == 256 * kKiB);
  CHECK(largest(Path::kImage, true) == 256 * kKiB);    // 256 x 256 x 4
  CHECK(largest(Path::kSampled, true) == 512 * kKiB);  // 256 x 256 x 8
  CHECK(largest(Path::kLocal, true) == 32 * kKiB);
  facts.memory_bytes = 1ULL << 20U;
  CHECK(largest(Path::kVector, true) == 128 * kKiB);
  CHECK(largest(Path::kImage, true) == 128 * kKiB);
  facts.memory_bytes = 0;
  CHECK(largest(Path::kVector, true) == 4 * kKiB);
  facts.memory_bytes = 1ULL << 34U;
  facts.is_cpu = true;
  CHECK(largest(Path::kVector, true) == 16ULL << 20U);
  for (const std::uint64_t bytes : bytes_of(chase_sizes(Path::kVector, facts, false))) {
    CHECK(bytes % kNodeBytes == 0);
  }
}

TEST_CASE("sides of images are powers of two, so that coordinates of centres are exact") {
  vulkan::DeviceFacts facts;
  facts.memory_bytes = 1ULL << 34U;
  facts.max_image_side = 16384;
  for (const Path path : {Path::kImage, Path::kSampled}) {
    for (const std::uint64_t bytes : bytes_of(chase_sizes(path, facts, false))) {
      CHECK(std::has_single_bit(bytes));
      const auto track = chase_tracks(path, facts, {bytes}).front();
      REQUIRE(track.image.has_value());
      if (track.image) {
        const auto& image = track.image->description;
        CHECK(std::has_single_bit(image.width));
        CHECK(std::has_single_bit(image.height));
        CHECK(image.width <= facts.max_image_side);
        CHECK(std::uint64_t{image.width} * image.height * vulkan::bytes_of(image.format) == bytes);
      }
    }
  }
}

TEST_CASE("a path that a device lacks is skipped and says what is missing") {
  TwoLevels levels;
  test::FakeRunner& runner = levels.runner;
  runner.device.max_uniform_range = 0;
  runner.device.max_image_side = 0;
  TestContext context{.runner = runner, .options = runner.options(), .quick = true};
  const auto results = run_latency(context);
  for (const char* id : {"latency.constant", "latency.image", "latency.sampled"}) {
    const auto& test = result_of(results, id);
    CHECK(test.status == analysis::TestStatus::kSkipped);
    CHECK(test.why.find("a fake device lets a shader read 0 bytes on this path") !=
          std::string::npos);
  }
  CHECK(result_of(results, "latency.texel").status == analysis::TestStatus::kOk);
}

TEST_CASE("latency on a real device is measured and proven") {
  const auto runner = test::bench_device_or_skip();
  if (!runner) {
    return;
  }
  MeasurementOptions options = test::brief_options();
  std::size_t done = 0;
  options.progress = [&](std::size_t now, std::size_t, double) { done = now; };
  options.cancelled = [&] { return done >= 6; };
  TestContext context{.runner = *runner, .options = options, .quick = true};
  const auto results = run_latency(context);
  REQUIRE_FALSE(results.empty());
  for (const analysis::TestResult& test : results) {
    CHECK_MESSAGE(test.status != analysis::TestStatus::kFailed, test.why);
  }
  CHECK(measured(results) > 0);
}
