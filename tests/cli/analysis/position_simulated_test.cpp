#include <doctest/doctest.h>

#include <random>
#include <vector>

#include "cli/analysis/position.h"
#include "tests/support/simulated_workload.h"

namespace gputrace::test {
namespace {

using namespace analysis;

constexpr std::uint64_t kTwoSeconds = 2000;

Calibration calibrate(double power_limit_w) {
  std::mt19937_64 rng(1);
  std::vector<CalibrationPoint> points;
  for (const int group_threads : {64, 256, 1024}) {
    for (const double intensity : {1.0, 8.0, 32.0, 64.0, 90.0, 128.0, 256.0, 512.0}) {
      auto point = measure(
          {.group_threads = group_threads, .intensity = intensity, .power_limit_w = power_limit_w},
          kTwoSeconds, rng);
      REQUIRE(point.has_value());
      points.push_back(std::move(*point));
    }
  }
  return calibration_of(std::move(points));
}

TEST_CASE("workgroups, latencies, mixes and seeds that were not calibrated are covered") {
  const Calibration calibration = calibrate(54);
  const auto model = PositionModel::make(calibration);
  REQUIRE(model.has_value());
  std::mt19937_64 rng(2);
  constexpr SimulatedStream kUnseen[] = {
      {.group_threads = 128, .intensity = 0.5, .dram_latency_ns = 200, .seed = 7},
      {.group_threads = 512, .read_bytes = 128, .written_bytes = 0, .intensity = 3, .seed = 8},
      {.group_threads = 320, .read_bytes = 16, .written_bytes = 16, .intensity = 12, .seed = 9},
      {.group_threads = 768, .intensity = 25, .dram_latency_ns = 450, .seed = 10},
      {.group_threads = 192, .intensity = 100, .seed = 11},
      {.group_threads = 640, .intensity = 110, .dram_latency_ns = 200, .seed = 12},
      {.group_threads = 384, .intensity = 150, .seed = 13},
      {.group_threads = 128, .read_bytes = 96, .written_bytes = 32, .intensity = 200, .seed = 14},
      {.group_threads = 896, .intensity = 300, .dram_latency_ns = 450, .seed = 15},
      {.group_threads = 192, .intensity = 480, .seed = 16},
  };
  int covered = 0;
  for (const SimulatedStream& stream : kUnseen) {
    CAPTURE(stream.intensity);
    const auto point = measure(stream, kTwoSeconds, rng);
    REQUIRE(point.has_value());
    const CalibrationFit fit = fit_of(calibration, conditions_of(calibration, *point));
    const auto position = model->place(point->units, fit);
    REQUIRE(position.has_value());
    const Range& range = position->intensity;
    covered += (!range.lower || *range.lower <= stream.intensity) &&
                       (!range.upper || stream.intensity <= *range.upper)
                   ? 1
                   : 0;
    // The ridge is at 64; no answer from the left of it reaches four times as far.
    if (stream.intensity < 16) {
      CHECK_FALSE(range.lower.has_value());
      CHECK(range.upper.value_or(1000) < 256);
    }
    if (stream.intensity > 256) {
      CHECK(range.lower.value_or(0) > 64);
    }
  }
  CHECK(covered >= 9);
}

TEST_CASE("a calibration at 15 W does not speak of a recording at 54 W") {
  std::mt19937_64 rng(3);
  std::vector<CalibrationPoint> points;
  for (const double intensity : {1.0, 64.0, 256.0}) {
    auto point = measure({.intensity = intensity, .power_limit_w = 15}, kTwoSeconds, rng);
    REQUIRE(point.has_value());
    points.push_back(std::move(*point));
  }
  const Calibration calibration = calibration_of(std::move(points));
  for (const double intensity : {4.0, 64.0, 256.0}) {
    CAPTURE(intensity);
    const auto point = measure({.intensity = intensity, .power_limit_w = 54}, kTwoSeconds, rng);
    REQUIRE(point.has_value());
    CHECK(fit_of(calibration, conditions_of(calibration, *point)).use == CalibrationUse::kRefused);
  }
}

}  // namespace
}  // namespace gputrace::test
