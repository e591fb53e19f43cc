#include <doctest/doctest.h>

#include <algorithm>
#include <map>
#include <set>
#include <string>

#include "kernels/bench/calibration_tests.h"
#include "kernels/bench/cases/bandwidth.h"
#include "kernels/bench/cases/sweep.h"
#include "tests/kernels/bench/bench_device.h"
#include "tests/kernels/bench/case_device.h"
#include "tests/kernels/bench/fake_runner.h"

namespace gputrace::bench {
namespace {

/// What an observer was told.
class Notes final : public PointObserver {
 public:
  void begin_point(const std::string& label, const Stimulus& stimulus) override {
    CHECK(told.emplace(label, stimulus).second);
  }
  void end_point(const std::string& label) override { CHECK(told.contains(label)); }
  [[nodiscard]] std::optional<double> clock_mhz() override { return std::nullopt; }
  [[nodiscard]] std::optional<double> power_w() override { return std::nullopt; }

  std::map<std::string, Stimulus> told;
};

/// All families on a device that runs everything.
struct Calibrated {
  explicit Calibrated(bool quick) {
    runner.is_simulated = true;
    runner.device.bc_textures = true;
    runner.device.max_image_side = 16384;
    TestContext context{
        .runner = runner, .observer = &notes, .options = runner.options(), .quick = quick};
    for (const BenchTest& test : calibration_tests()) {
      auto results = test.run(context);
      REQUIRE(results.size() == 1);
      CHECK(results.front().id == test.id);
      tests.push_back(std::move(results.front()));
    }
  }

  [[nodiscard]] std::vector<analysis::BenchPoint> points_of(std::string_view id) const {
    std::vector<analysis::BenchPoint> points;
    for (const analysis::TestResult& test : tests) {
      for (const analysis::BenchSeries& series : test.series) {
        if (test.id == id) {
          points.insert(points.end(), series.points.begin(), series.points.end());
        }
      }
    }
    return points;
  }

  test::FakeRunner runner;
  Notes notes;
  std::vector<analysis::TestResult> tests;
};

TEST_CASE("a quick calibration has twelve intensities at one group size and four at the others") {
  const Calibrated quick(true);
  std::map<std::uint32_t, int> by_size;
  for (const analysis::BenchPoint& point : quick.points_of("calibration.sweep")) {
    ++by_size[quick.notes.told.at(point.label).group_threads];
  }
  CHECK(by_size == std::map<std::uint32_t, int>{{64, 4}, {128, 4}, {256, 12}, {512, 4}, {1024, 4}});
  CHECK(quick.points_of("calibration.chase").size() == 5);
}

TEST_CASE("a full calibration has all intensities at all group sizes") {
  const Calibrated full(false);
  CHECK(full.points_of("calibration.sweep").size() == 5 * 12);
  CHECK(full.points_of("calibration.bandwidth").size() == 5 * 3);
  CHECK(full.points_of("calibration.chase").size() == 7);
}

TEST_CASE("every point of a calibration was marked under its label with what it does") {
  for (const bool quick : {true, false}) {
    const Calibrated calibrated(quick);
    std::size_t points = 0;
    for (const BenchTest& test : calibration_tests()) {
      CAPTURE(std::string(test.id));
      const auto of_test = calibrated.points_of(test.id);
      CHECK(of_test.size() >= 3);
      points += of_test.size();
      for (const analysis::BenchPoint& point : of_test) {
        CAPTURE(point.label);
        CHECK(point.median);
        REQUIRE(calibrated.notes.told.contains(point.label));
        const Stimulus& stimulus = calibrated.notes.told.at(point.label);
        CHECK(stimulus.threads > 0);
        // What local memory does is no term of a mark.
        const bool is_local = point.label.starts_with("atomics.local");
        CHECK((is_local || stimulus.flops + stimulus.read_bytes + stimulus.written_bytes > 0));
      }
    }
    CHECK(points == calibrated.notes.told.size());
  }
}

TEST_CASE("a point of the sweep says the intensity that it stands at, of DRAM") {
  const Calibrated quick(true);
  for (const analysis::BenchPoint& point : quick.points_of("calibration.sweep")) {
    const Stimulus& stimulus = quick.notes.told.at(point.label);
    REQUIRE(stimulus.dram_bytes);
    CHECK(stimulus.flops / stimulus.dram_bytes.value_or(0) == doctest::Approx(point.x));
  }
}

TEST_CASE("streams by few groups stay within the trips that every device runs") {
  auto facts = test::integrated_gpu();
  facts.max_group_threads = 64;
  const SizedCase sized =
      dram_case(facts, Stream::kRead, dram_bytes(facts, false), {.threads = 64, .most = 1});
  CHECK(sized.launch.trips <= kMaxTrips);
  CHECK(read_bytes_of(sized.kernel, sized.launch) == 512.0 * 1024 * 1024);
}

TEST_CASE("a device with small groups gets the sizes that it has") {
  auto facts = test::integrated_gpu();
  facts.max_group_threads = 128;
  for (const BenchTest& test : calibration_tests()) {
    if (test.id == "calibration.sweep" || test.id == "calibration.bandwidth") {
      for (const KernelCase& kernel : test.cases(facts)) {
        CHECK(kernel.group_threads <= 128);
      }
    }
  }
}

TEST_CASE("additions are measured by the first family alone") {
  test::FakeRunner runner;
  Notes notes;
  TestContext context{
      .runner = runner, .observer = &notes, .options = runner.options(), .quick = true};
  context.additions_per_ns = 1e9;
  const auto& bandwidth = calibration_tests()[1];
  const auto results = bandwidth.run(context);
  CHECK(results.front().rate == analysis::Proof::kPassed);
  CHECK(std::ranges::none_of(notes.told,
                             [](const auto& told) { return told.first.starts_with("additions"); }));
  context.additions_per_ns.reset();
  context.observer = nullptr;
  CHECK(bandwidth.run(context).front().rate != analysis::Proof::kNotDone);
  CHECK(context.additions_per_ns);
}

TEST_CASE("a point is sampled as long as was asked for") {
  test::FakeRunner runner;
  runner.is_simulated = true;
  TestContext context{.runner = runner, .options = runner.options(), .quick = true};
  context.options.run_ns = 50e6;
  context.options.samples = 10;
  for (const BenchTest& test : calibration_tests()) {
    for (const analysis::TestResult& result : test.run(context)) {
      for (const analysis::BenchSeries& series : result.series) {
        for (const analysis::BenchPoint& point : series.points) {
          CAPTURE(point.label);
          REQUIRE(point.start_ns);
          REQUIRE(point.end_ns);
          CHECK(point.end_ns.value_or(0) - point.start_ns.value_or(0) >= 450'000'000);
        }
      }
    }
  }
}

TEST_CASE("groups of other sizes and few groups run on a device and leave what the CPU has") {
  const auto runner = test::bench_device_or_skip();
  if (!runner) {
    return;
  }
  constexpr std::uint64_t kBytes = 256U << 10U;
  for (const std::uint32_t threads : {64U, 1024U}) {
    const SizedCase point = sweep_case(runner->facts(), 3, kBytes, threads);
    test::check_on_device(*runner, point.kernel, point.launch);
    const SizedCase stream =
        dram_case(runner->facts(), Stream::kCopy, kBytes, {.threads = threads});
    test::check_on_device(*runner, stream.kernel, stream.launch);
  }
  const SizedCase few =
      dram_case(runner->facts(), Stream::kRead, 4 * kBytes, {.threads = 64, .most = 2});
  CHECK(few.launch.groups == 2);
  test::check_on_device(*runner, few.kernel, few.launch);
}

}  // namespace
}  // namespace gputrace::bench
