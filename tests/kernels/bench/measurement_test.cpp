#include "kernels/bench/measurement.h"

#include <doctest/doctest.h>

#include <algorithm>
#include <array>
#include <memory>

#include "tests/kernels/bench/fake_kernel.h"

namespace gputrace {
namespace {

using bench::Launch;
using test::FakeClock;
using test::FakeKernel;

bench::MeasurementOptions options_of(FakeClock& clock) {
  bench::MeasurementOptions options;
  options.clock = &clock;
  return options;
}

bench::MeasuredPoint measure_one(FakeKernel& kernel, const bench::MeasurementOptions& options,
                                 bool scale_trips = true, const Launch& launch = {},
                                 bench::PointObserver* observer = nullptr) {
  const std::array plan{bench::PlannedPoint{
      .kernel = &kernel, .launch = launch, .scale_trips = scale_trips, .label = "point"}};
  return bench::measure(plan, options, observer).front();
}

/// A microsecond of launch and half a microsecond a trip.
double plain_ns(const Launch& launch, std::size_t) {
  return 1e3 + 500.0 * launch.trips;
}

struct Observer final : bench::PointObserver {
  void begin_point(const std::string& label, const bench::Stimulus& stimulus) override {
    calls.push_back("begin " + label + " " + stimulus.kernel);
    launches = stimulus.launches;
  }
  void end_point(const std::string& label) override { calls.push_back("end " + label); }
  std::optional<double> clock_mhz() override {
    calls.emplace_back("clock");
    return 2600;
  }
  std::optional<double> power_w() override {
    calls.emplace_back("power");
    return 45;
  }
  std::vector<std::string> calls;
  std::uint32_t launches = 0;
};

TEST_CASE("a steady kernel is measured twenty times in runs of the wanted length") {
  FakeClock clock;
  FakeKernel kernel(clock, "steady", plain_ns);
  const auto point = measure_one(kernel, options_of(clock));
  REQUIRE(point.timing);
  CHECK(point.timing->samples == 20);
  CHECK(point.timing->median_ns == doctest::Approx(20e6).epsilon(0.05));
  CHECK(point.timing->median_ns == doctest::Approx(plain_ns(point.launch, 0)));
  CHECK(point.timing->p5_ns == point.timing->p95_ns);
  CHECK(point.timing->wall_median_ns == doctest::Approx(point.timing->median_ns + 1000));
  CHECK(point.timing->from_timestamps);
  CHECK_FALSE(point.timing->drifts);
  CHECK(point.launch.repeats == 1);
  CHECK_FALSE(point.timing->clock_before_mhz.has_value());
}

TEST_CASE("warm-up ends when the time of a run is steady, and never after its limit") {
  FakeClock clock;
  const auto options = options_of(clock);
  FakeKernel steady(clock, "steady", plain_ns);
  const std::int64_t start_ns = clock.now_ns();
  REQUIRE(measure_one(steady, options).timing);
  CHECK(clock.now_ns() - start_ns < 700'000'000);

  // A clock that rises for half a second.
  FakeKernel ramp(clock, "ramp", [&, from = clock.now_ns()](const Launch& launch, std::size_t) {
    const double share = std::min(1.0, static_cast<double>(clock.now_ns() - from) / 5e8);
    return 500.0 * launch.trips * (3 - 2 * share);
  });
  const auto point = measure_one(ramp, options);
  REQUIRE(point.timing);
  CHECK_FALSE(point.timing->drifts);
  CHECK(point.timing->median_ns == doctest::Approx(500.0 * point.launch.trips));

  FakeKernel restless(clock, "restless", [](const Launch& launch, std::size_t run) {
    return 500.0 * launch.trips * (1 + 0.002 * static_cast<double>(run));
  });
  const auto late = measure_one(restless, options);
  REQUIRE(late.timing);
  CHECK(late.timing->start_ns < clock.now_ns());
  CHECK(late.timing->drifts);
}

TEST_CASE("a drift above two percent is flagged, one below is not") {
  FakeClock clock;
  for (const double a_run : {0.0005, 0.004}) {
    FakeKernel kernel(clock, "drifting", [a_run](const Launch& launch, std::size_t run) {
      return 500.0 * launch.trips * (1 + a_run * static_cast<double>(run));
    });
    const auto point = measure_one(kernel, options_of(clock));
    REQUIRE(point.timing);
    CHECK(point.timing->drifts == (a_run > 0.001));
  }
}

TEST_CASE("a run of fewer than ten ticks is a failure, not an infinite rate") {
  FakeClock clock;
  FakeKernel kernel(clock, "gone", [](const Launch&, std::size_t) { return 0.0001; });
  const auto point = measure_one(kernel, options_of(clock));
  CHECK_FALSE(point.timing.has_value());
  REQUIRE(point.error);
  CHECK(point.error->message.find("ticks") != std::string::npos);

  // The same without timestamps, and in the middle of the samples.
  FakeKernel wall(clock, "wall", [](const Launch&, std::size_t) { return 0.0001; });
  wall.tick_ns.reset();
  REQUIRE(measure_one(wall, options_of(clock)).error);
  FakeKernel later(clock, "later", [](const Launch& launch, std::size_t run) {
    return run < 20 ? 500.0 * launch.trips : 50.0;
  });
  const auto lost = measure_one(later, options_of(clock));
  CHECK(lost.error.has_value());
  CHECK_FALSE(lost.timing.has_value());
}

TEST_CASE("a dispatch stays below 50 ms, and longer runs consist of several") {
  FakeClock clock;
  auto options = options_of(clock);
  options.run_ns = 200e6;
  options.point_limit_ns = 60e9;
  FakeKernel by_trips(clock, "trips", plain_ns);
  const auto trips = measure_one(by_trips, options);
  REQUIRE(trips.timing);
  CHECK(by_trips.longest_dispatch_ns < bench::kMaxDispatchNs);
  CHECK(trips.timing->median_ns == doctest::Approx(200e6).epsilon(0.3));

  FakeKernel by_repeats(clock, "repeats", plain_ns);
  const auto repeats = measure_one(by_repeats, options, false, Launch{.trips = 40});
  REQUIRE(repeats.timing);
  CHECK(repeats.launch.trips == 40);
  CHECK(repeats.launch.repeats > 1000);
  CHECK(by_repeats.longest_dispatch_ns < bench::kMaxDispatchNs);
}

TEST_CASE("an invocation never makes more trips than every device runs") {
  FakeClock clock;
  FakeKernel kernel(clock, "short trips",
                    [](const Launch& launch, std::size_t) { return 10.0 * launch.trips; });
  const auto point = measure_one(kernel, options_of(clock));
  REQUIRE(point.timing);
  CHECK(point.launch.trips == bench::kMaxTrips);
  CHECK(point.launch.repeats > 1);
  for (const Launch& launch : kernel.runs) {
    CHECK(launch.trips <= bench::kMaxTrips);
  }
  const auto refused = measure_one(kernel, options_of(clock), false, Launch{.trips = 70'000});
  REQUIRE(refused.error);
  CHECK(refused.error->message.find("60000") != std::string::npos);
}

TEST_CASE("a dispatch of a second that cannot be split is refused") {
  FakeClock clock;
  FakeKernel kernel(clock, "slow",
                    [](const Launch& launch, std::size_t) { return 10e6 * launch.trips; });
  const auto point = measure_one(kernel, options_of(clock), false, Launch{.trips = 1000});
  REQUIRE(point.error);
  CHECK(point.error->message.find("cannot be split") != std::string::npos);
  CHECK(kernel.longest_dispatch_ns < 2.1e9);
}

TEST_CASE("a slow point gets fewer samples, never below five") {
  FakeClock clock;
  FakeKernel kernel(clock, "slow", [](const Launch&, std::size_t) { return 900e6; });
  const auto point = measure_one(kernel, options_of(clock), false);
  REQUIRE(point.timing);
  CHECK(point.timing->samples == bench::kFewestSamples);
}

TEST_CASE("points are measured in shuffled order, each in one stretch, and returned in theirs") {
  FakeClock clock;
  std::vector<std::unique_ptr<FakeKernel>> kernels;
  std::vector<bench::PlannedPoint> plan;
  std::vector<std::size_t> order;
  for (std::size_t i = 0; i < 8; ++i) {
    kernels.push_back(std::make_unique<FakeKernel>(
        clock, "k" + std::to_string(i), [&order, i](const Launch& launch, std::size_t) {
          if (order.empty() || order.back() != i) {
            order.push_back(i);
          }
          return 500.0 * (static_cast<double>(i) + 1) * launch.trips;
        }));
    plan.push_back(
        {.kernel = kernels.back().get(), .launch = {}, .scale_trips = true, .label = "p"});
  }
  auto options = options_of(clock);
  std::size_t told = 0;
  double left = -1;
  options.progress = [&](std::size_t done, std::size_t of, double seconds_left) {
    CHECK(done == ++told);
    CHECK(of == 8);
    left = seconds_left;
    CHECK(((done == 8) == (seconds_left == 0.0)));
  };
  const auto points = bench::measure(plan, options, nullptr);
  CHECK(order.size() == 8);
  CHECK_FALSE(std::is_sorted(order.begin(), order.end()));
  CHECK(told == 8);
  CHECK(left == 0.0);
  for (std::size_t i = 0; i < 8; ++i) {
    REQUIRE(points[i].timing);
    CHECK(points[i].timing->median_ns ==
          doctest::Approx(500.0 * (static_cast<double>(i) + 1) * points[i].launch.trips));
  }
  const auto first_order = std::exchange(order, {});
  told = 0;
  (void)bench::measure(plan, options, nullptr);
  CHECK(order == first_order);  // the same seed
}

TEST_CASE("a lost device ends the plan, and what was measured is kept") {
  FakeClock clock;
  std::vector<std::unique_ptr<FakeKernel>> kernels;
  std::vector<bench::PlannedPoint> plan;
  std::size_t runs = 0;
  for (std::size_t i = 0; i < 6; ++i) {
    kernels.push_back(std::make_unique<FakeKernel>(clock, "k" + std::to_string(i),
                                                   [&](const Launch& launch, std::size_t) {
                                                     ++runs;
                                                     return 500.0 * launch.trips;
                                                   }));
    plan.push_back(
        {.kernel = kernels.back().get(), .launch = {}, .scale_trips = true, .label = "p"});
  }
  kernels[3]->lost_at = 15;
  const auto points = bench::measure(plan, options_of(clock), nullptr);
  const auto measured = std::count_if(points.begin(), points.end(), [](const auto& point) {
    return point.timing.has_value() && !point.error.has_value();
  });
  const auto failed = std::count_if(points.begin(), points.end(), [](const auto& point) {
    return point.error && point.error->message.find("lost") != std::string::npos;
  });
  CHECK(measured >= 1);
  CHECK(failed >= 1);
  CHECK(measured + failed == 6);
  CHECK_FALSE(points[3].timing.has_value());
}

TEST_CASE("a failure of one point leaves the others alone") {
  FakeClock clock;
  FakeKernel bad(clock, "bad", [](const Launch&, std::size_t) { return 0.0001; });
  FakeKernel good(clock, "good", plain_ns);
  const std::array plan{
      bench::PlannedPoint{.kernel = &bad, .launch = {}, .scale_trips = true, .label = "bad"},
      bench::PlannedPoint{.kernel = &good, .launch = {}, .scale_trips = true, .label = "good"}};
  const auto points = bench::measure(plan, options_of(clock), nullptr);
  CHECK(points[0].error.has_value());
  CHECK(points[1].timing.has_value());
}

TEST_CASE("Ctrl-C keeps the point in hand once it has five samples, and what was before") {
  FakeClock clock;
  for (const std::size_t at : {std::size_t{30}, std::size_t{12}}) {
    FakeKernel kernel(clock, "k", plain_ns);
    auto options = options_of(clock);
    options.cancelled = [&] { return kernel.runs.size() >= at; };
    const std::array plan{
        bench::PlannedPoint{.kernel = &kernel, .launch = {}, .scale_trips = true, .label = "a"},
        bench::PlannedPoint{.kernel = &kernel, .launch = {}, .scale_trips = true, .label = "b"}};
    const auto points = bench::measure(plan, options, nullptr);
    CHECK(points[0].timing.has_value() + points[1].timing.has_value() == (at == 30 ? 1 : 0));
    CHECK_FALSE(points[0].error.has_value());
    CHECK_FALSE(points[1].error.has_value());
    CHECK(kernel.runs.size() <= at);
  }
}

TEST_CASE("the observer gets each point once, with clocks before and after and power within") {
  FakeClock clock;
  FakeKernel kernel(clock, "k", plain_ns);
  Observer observer;
  const auto point = measure_one(kernel, options_of(clock), true, {}, &observer);
  REQUIRE(point.timing);
  CHECK(observer.calls ==
        std::vector<std::string>{"begin point k", "clock", "power", "clock", "end point"});
  CHECK(observer.launches == point.launch.repeats);
  CHECK(point.timing->clock_before_mhz == 2600);
  CHECK(point.timing->clock_after_mhz == 2600);
  CHECK(point.timing->power_w == 45);
  CHECK(point.timing->end_ns - point.timing->start_ns ==
        static_cast<std::int64_t>(20 * point.timing->median_ns));

  // A point that fails ends as it has begun.
  FakeKernel lost(clock, "lost", plain_ns);
  lost.lost_at = 25;
  observer.calls.clear();
  CHECK(measure_one(lost, options_of(clock), true, {}, &observer).error.has_value());
  CHECK(observer.calls.back() == "end point");
}

TEST_CASE("without timestamps the wall clock is taken, and said so") {
  FakeClock clock;
  FakeKernel kernel(clock, "k", plain_ns);
  kernel.tick_ns.reset();
  const auto point = measure_one(kernel, options_of(clock));
  REQUIRE(point.timing);
  CHECK_FALSE(point.timing->from_timestamps);
  CHECK(point.timing->median_ns == point.timing->wall_median_ns);
}

TEST_CASE("a quantile lies between neighbours") {
  CHECK(bench::quantile({3, 1, 2}, 0.5) == 2.0);
  CHECK(bench::quantile({4, 1, 2, 3}, 0.5) == 2.5);
  CHECK(bench::quantile({7}, 0.05) == 7.0);
  CHECK(bench::quantile({0, 100}, 0.05) == doctest::Approx(5));
  CHECK(bench::quantile({}, 0.5) == 0.0);
}

}  // namespace
}  // namespace gputrace
