#include "kernels/bench/tests/stride/stride.h"

#include <doctest/doctest.h>

#include <algorithm>
#include <set>

#include "tests/kernels/bench/bench_device.h"
#include "tests/kernels/bench/fake_runner.h"

using namespace gputrace;         // NOLINT(google-build-using-namespace)
using namespace gputrace::bench;  // NOLINT(google-build-using-namespace)

namespace {

/// A first level of 64 KiB in lines of 64 bytes: 1,024 places, whatever lies between them.
double lines_of_64(const KernelCase& kernel, const Launch& launch) {
  const Stimulus stimulus = kernel.stimulus(launch);
  const double stride = std::max(stimulus.stride_bytes, 64.0);
  const bool fits = stimulus.footprint_bytes / stride <= 1024;
  return 30e3 + 16.0 * launch.trips * (fits ? 20 : 200);
}

vulkan::DeviceFacts facts_of(std::uint64_t memory_bytes) {
  vulkan::DeviceFacts facts;
  facts.max_storage_range = 1ULL << 32U;
  facts.memory_bytes = memory_bytes;
  return facts;
}

}  // namespace

TEST_CASE("plain and jittered strides are measured by working set") {
  test::FakeRunner runner;
  runner.dispatch_ns = lines_of_64;
  TestContext context{.runner = runner, .options = runner.options(), .quick = true};
  const auto results = run_stride(context);
  REQUIRE(results.size() == 2);
  CHECK(results[0].id == "stride.plain");
  CHECK(results[1].id == "stride.jittered");
  for (const analysis::TestResult& test : results) {
    CHECK(test.status == analysis::TestStatus::kOk);
    CHECK(test.rate == analysis::Proof::kPassed);
    CHECK(test.unit == "ns a hop");
    CHECK(test.axis_unit == "B");
  }
  const auto knee = [](const analysis::BenchSeries& series) {
    const auto slow = std::ranges::find_if(
        series.points, [](const auto& point) { return point.median.value_or(0) > 100; });
    return slow == series.points.end() ? 0 : slow->x;
  };
  std::set<std::string> names;
  for (const analysis::BenchSeries& series : results[0].series) {
    CHECK(names.insert(series.name).second);
    if (series.name == "64 B") {
      CHECK(knee(series) == 262144);  // steps of a factor 4
    } else if (series.name == "1 KiB") {
      CHECK(knee(series) == 4194304);
    }
  }
  CHECK(names == std::set<std::string>{"16 B", "64 B", "256 B", "1 KiB", "4 KiB", "16 KiB",
                                       "64 KiB", "256 KiB", "1 MiB"});
}

TEST_CASE("a full run has strides of 16 B to 2 MiB in factors of 2, the others first") {
  const auto points = stride_points(facts_of(1ULL << 34U), false);
  std::set<std::uint64_t> plain;
  std::set<std::uint64_t> jittered;
  for (const StridePoint& point : points) {
    (point.jittered ? jittered : plain).insert(point.stride_bytes);
    CHECK(point.bytes / point.stride_bytes >= 8);
    CHECK(point.bytes <= 64U << 20U);
  }
  CHECK(plain.size() == 18);
  CHECK(*plain.begin() == 16);
  CHECK(*plain.rbegin() == 2U << 20U);
  CHECK(*jittered.begin() == 128);  // within a line there is nothing to draw
  const auto first = std::ranges::count(points, 0U, &StridePoint::rank);
  CHECK(first > 10);
  CHECK(first < 30);
}

TEST_CASE("strides stay within ranges and a part of the memory") {
  for (const std::uint64_t memory : {0ULL, 1ULL << 20U, 256ULL << 20U, 1ULL << 34U}) {
    for (const bool quick : {true, false}) {
      vulkan::DeviceFacts facts = facts_of(memory);
      facts.max_storage_range = 8U << 20U;
      const auto points = stride_points(facts, quick);
      CHECK_FALSE(points.empty());
      for (const StridePoint& point : points) {
        CHECK(point.bytes <= std::max<std::uint64_t>(16384, memory / 32));
        CHECK(point.bytes <= facts.max_storage_range);
      }
    }
  }
}

TEST_CASE("a share that is spent leaves lines and pages, and says what is missing") {
  test::FakeRunner runner;
  MeasurementOptions options = runner.options();
  options.share_end_ns = runner.clock.now_ns();
  TestContext context{.runner = runner, .options = options, .quick = true};
  const auto results = run_stride(context);
  REQUIRE(results.size() == 2);
  std::set<std::string> plain;
  for (const analysis::BenchSeries& series : results[0].series) {
    plain.insert(series.name);
  }
  CHECK(plain == std::set<std::string>{"64 B", "4 KiB", "256 KiB"});
  REQUIRE(results[1].series.size() == 1);
  CHECK(results[1].series[0].name == "4 KiB");
  CHECK(results[1].why.find("points left out") != std::string::npos);
}

TEST_CASE("a device that is lost ends the strides") {
  test::FakeRunner runner;
  int runs = 0;
  runner.dispatch_ns = [&](const KernelCase& kernel, const Launch& launch) {
    if (++runs == 300) {
      runner.broken = Error{ErrorCode::kIo, "the device was lost"};
    }
    return lines_of_64(kernel, launch);
  };
  TestContext context{.runner = runner, .options = runner.options(), .quick = true};
  const auto results = run_stride(context);
  REQUIRE_FALSE(results.empty());
  CHECK(results[0].status == analysis::TestStatus::kFailed);
  CHECK(runs == 300);
}

TEST_CASE("strides on a real device end where the CPU says, with addresses and with indices") {
  const auto runner = test::bench_device_or_skip();
  if (!runner) {
    return;
  }
  for (const bool addresses : {true, false}) {
    vulkan::DeviceFacts facts = runner->facts();
    facts.buffer_addresses = facts.buffer_addresses && addresses;
    for (const KernelCase& kernel : stride_cases(facts)) {
      CAPTURE(kernel.id);
      const auto prepared = runner->prepare(kernel);
      REQUIRE_MESSAGE(prepared, test::error_text(prepared));
      const Status exact = (*prepared)->check_result({.groups = 1, .trips = 50, .repeats = 2});
      CHECK_MESSAGE(exact, test::error_text(exact));
    }
  }
}
