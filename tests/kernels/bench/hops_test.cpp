#include "kernels/bench/tests/latency/hops.h"

#include <doctest/doctest.h>

#include <algorithm>
#include <cstring>
#include <functional>
#include <memory>
#include <numeric>

#include "kernels/bench/tests/latency/latency_cases.h"
#include "tests/kernels/bench/bench_device.h"
#include "tests/kernels/bench/fake_runner.h"

using namespace gputrace;         // NOLINT(google-build-using-namespace)
using namespace gputrace::bench;  // NOLINT(google-build-using-namespace)

namespace {

/// Readings of a counter of so many bits from hops of so many clocks.
std::vector<std::uint32_t> readings_of(const std::vector<std::uint32_t>& clocks, unsigned bits,
                                       std::uint32_t start) {
  const std::uint64_t period = std::uint64_t{1} << bits;
  std::vector<std::uint32_t> readings{start};
  std::uint64_t now = start;
  for (const std::uint32_t clock : clocks) {
    now = (now + clock) % period;
    readings.push_back(static_cast<std::uint32_t>(now));
  }
  return readings;
}

ChaseTrack track_of(std::uint64_t bytes) {
  vulkan::DeviceFacts facts;
  facts.buffer_addresses = true;
  return chase_tracks(Path::kVector, facts, {bytes}).front();
}

/// A device that walks chains on the CPU, with a clock that says how long each hop takes.
class ClockedRunner {
 public:
  explicit ClockedRunner(std::function<std::uint32_t(double footprint)> clocks_of_hop)
      : clocks_of_hop_(std::move(clocks_of_hop)) {
    fake.device.shader_clock = true;
    fake.device.int64 = true;
    fake.result = [this](const KernelCase& kernel, const Launch& launch) {
      return kernel.id.starts_with("latency.hops") ? run(kernel, launch) : Status();
    };
  }

  test::FakeRunner fake;

 private:
  Status run(const KernelCase& kernel, const Launch& launch) {
    Outputs outputs;
    for (const BufferNeed& need : kernel.buffers) {
      outputs.buffers.emplace_back(need.bytes);
    }
    kernel.buffers[0].fill(outputs.buffers[0]);
    kernel.buffers[1].fill_at(outputs.buffers[1], 0);
    std::uint32_t place = 0;
    std::memcpy(&place, outputs.buffers[0].data(), sizeof(place));
    for (std::uint32_t i = 0; i < launch.trips; ++i) {
      std::memcpy(&place, &outputs.buffers[1].at(place), sizeof(place));
      now_ += clocks_of_hop_(kernel.stimulus(launch).footprint_bytes);
      std::memcpy(&outputs.buffers[2].at(i % kKeptHops * 4UL), &now_, sizeof(now_));
    }
    std::memcpy(outputs.buffers[0].data(), &place, sizeof(place));
    return kernel.check(launch, outputs);
  }

  std::function<std::uint32_t(double footprint)> clocks_of_hop_;
  std::uint32_t now_ = 0;
};

/// Two sets, far apart.
analysis::TestResult measure_two(ClockedRunner& runner) {
  TestContext context{.runner = runner.fake, .options = runner.fake.options(), .quick = true};
  analysis::TestResult test;
  std::vector<HopPoint> points;
  for (const std::uint64_t bytes : {4096ULL, 1048576ULL}) {
    points.push_back(hop_point(runner.fake.device, track_of(bytes)));
    REQUIRE_FALSE(measure_hops(context, context.options, 5000, points.back(), test));
  }
  enter_hops(points, test);
  return test;
}

double sum_of(const analysis::BenchSeries& series) {
  return std::accumulate(
      series.points.begin(), series.points.end(), 0.0,
      [](double sum, const auto& point) { return sum + point.median.value_or(0); });
}

}  // namespace

TEST_CASE("a clock of 20 bits is seen to wrap, one of 32 bits too, and neither hop is lost") {
  for (const unsigned bits : {20U, 32U}) {
    const std::vector<std::uint32_t> clocks(500, 300);
    const auto start = static_cast<std::uint32_t>((std::uint64_t{1} << bits) - 20'000);
    const HopTimes times = hop_times(readings_of(clocks, bits, start));
    CHECK(times.clocks == clocks);
    CHECK(times.counter_bits == bits);
    CHECK(times.dropped == 0);
  }
  const HopTimes straight = hop_times(readings_of({40, 50, 60}, 32, 1'000'000));
  CHECK(straight.clocks == std::vector<std::uint32_t>{40, 50, 60});
  CHECK(straight.counter_bits == 0);
  CHECK(hop_times({}).clocks.empty());
}

TEST_CASE("a clock that goes back is another core's: that hop is dropped and no wrap is assumed") {
  const std::vector<std::uint32_t> readings{900'000, 900'100, 850'000, 850'030};
  const HopTimes times = hop_times(readings);
  CHECK(times.clocks == std::vector<std::uint32_t>{100, 30});
  CHECK(times.dropped == 1);
  CHECK(times.counter_bits == 0);
}

TEST_CASE("bins hold every clock once, an eighth of an octave each") {
  std::vector<std::uint32_t> clocks;
  for (std::uint32_t i = 1; i <= 1000; ++i) {
    clocks.push_back(i);
  }
  const auto bins = hop_bins(clocks);
  std::uint64_t end = bins.front().first;
  std::uint64_t hops = 0;
  for (const HopBin& bin : bins) {
    CHECK(bin.first == end);
    CHECK(bin.hops == std::min<std::uint64_t>(bin.end, 1001) - bin.first);
    CHECK(static_cast<double>(bin.end) <=
          std::max(static_cast<double>(bin.first) + 1, static_cast<double>(bin.first) * 1.2));
    end = bin.end;
    hops += bin.hops;
  }
  CHECK(hops == 1000);
  CHECK(hop_bins({}).empty());
  // One hop in 5,000 that took a million is no peak, and takes no rows.
  std::vector<std::uint32_t> one_late(4999, 40);
  one_late.push_back(1'000'000);
  CHECK(hop_bins(one_late).size() == 1);
}

TEST_CASE("hops are a histogram of shares for each set, with the median beside it") {
  ClockedRunner runner([](double footprint) { return footprint < 65536 ? 40U : 200U; });
  const analysis::TestResult test = measure_two(runner);
  REQUIRE(test.series.size() == 2);
  CHECK(test.series[0].name == "4 KiB");
  CHECK(test.series[1].name == "1024 KiB");
  CHECK(test.rate == analysis::Proof::kPassed);
  CHECK(test.result == analysis::Proof::kPassed);
  for (const analysis::BenchSeries& series : test.series) {
    CHECK(sum_of(series) == doctest::Approx(1));
    REQUIRE(series.points.size() == 1);
    CHECK(series.points[0].status == analysis::TestStatus::kOk);
    CHECK(series.points[0].samples >= 5000);
  }
  CHECK(test.series[0].points[0].x == doctest::Approx(40).epsilon(0.07));
  REQUIRE(test.derived.size() == 2);
  CHECK(test.derived[1].value == 200);
  CHECK(test.derived[1].unit == "clk");
}

TEST_CASE("a clock that is read before the data has come is suspect") {
  ClockedRunner runner([](double) { return 6U; });
  const analysis::TestResult test = measure_two(runner);
  CHECK(test.rate == analysis::Proof::kFailed);
  for (const analysis::BenchSeries& series : test.series) {
    for (const analysis::BenchPoint& point : series.points) {
      CHECK(point.status == analysis::TestStatus::kSuspect);
      CHECK(point.why.find("before the data had come") != std::string::npos);
    }
  }
}

TEST_CASE("a clock that stands still is an error, not a histogram") {
  ClockedRunner runner([](double) { return 0U; });
  TestContext context{.runner = runner.fake, .options = runner.fake.options(), .quick = true};
  analysis::TestResult test;
  std::vector<HopPoint> points{hop_point(runner.fake.device, track_of(4096))};
  const auto error = measure_hops(context, context.options, 5000, points[0], test);
  REQUIRE(error);
  CHECK(error->message.find("the clock does not advance") != std::string::npos);
  enter_hops(points, test);
  REQUIRE(test.series.size() == 1);
  CHECK(test.series[0].points[0].status == analysis::TestStatus::kFailed);
}

TEST_CASE("what hops need is named") {
  test::FakeRunner runner;
  CHECK(missing_for_hops(runner).find("VK_KHR_shader_clock") != std::string::npos);
  runner.device.shader_clock = true;
  CHECK(missing_for_hops(runner).find("shaderInt64") != std::string::npos);
  runner.device.int64 = true;
  CHECK(missing_for_hops(runner).empty());
  runner.is_simulated = true;
  CHECK(missing_for_hops(runner).find("simulated") != std::string::npos);
}

TEST_CASE("hops of a real device are timed and end where the CPU says") {
  const auto runner = test::bench_device_or_skip();
  if (!runner) {
    return;
  }
  if (const std::string missing = missing_for_hops(*runner); !missing.empty()) {
    MESSAGE("skipped: ", missing);
    return;
  }
  TestContext context{.runner = *runner, .options = test::brief_options(), .quick = true};
  analysis::TestResult test;
  std::vector<HopPoint> points{hop_point(runner->facts(), track_of(16384))};
  const auto error = measure_hops(context, context.options, 2 * kKeptHops, points[0], test);
  REQUIRE_MESSAGE(!error, error->message);
  CHECK_MESSAGE(points[0].status == analysis::TestStatus::kOk, points[0].why);
  CHECK(points[0].times.clocks.size() >= 2 * kKeptHops);
  CHECK(test.result == analysis::Proof::kPassed);
}
