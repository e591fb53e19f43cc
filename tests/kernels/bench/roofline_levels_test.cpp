#include "kernels/bench/roofline_levels.h"

#include <doctest/doctest.h>

#include <cmath>
#include <random>

namespace gputrace {
namespace {

using bench::CurvePoint;

/// A curve over powers of two from 4 KiB on.
std::vector<CurvePoint> curve_of(const std::vector<double>& rates, double spread = 0.01) {
  std::vector<CurvePoint> curve;
  curve.reserve(rates.size());
  for (std::size_t i = 0; i < rates.size(); ++i) {
    curve.push_back({4096.0 * std::exp2(static_cast<double>(i)), rates[i], rates[i] * (1 - spread),
                     rates[i] * (1 + spread)});
  }
  return curve;
}

TEST_CASE("flat stretches with drops between them are levels, and the last one is memory") {
  const auto curve =
      curve_of({1500, 1510, 1490, 1500, 900, 905, 898, 600, 402, 400, 399, 200, 73, 72, 73});
  const auto levels = bench::find_levels(curve);
  REQUIRE(levels.size() == 3);
  CHECK(curve[levels[0].last].bytes == 32768);
  CHECK(curve[levels[0].median].gb_per_s == 1500);
  CHECK(curve[levels[1].first].bytes == 65536);
  CHECK(curve[levels[1].last].bytes == 262144);
  CHECK(curve[levels[2].median].gb_per_s == 400);
}

TEST_CASE("a slope is no level, and neither is one size alone") {
  CHECK(bench::find_levels(curve_of({1000, 800, 640, 512, 410, 328, 262})).empty());
  CHECK(bench::find_levels(curve_of({1000, 500, 250, 73, 73, 73})).empty());
  CHECK(bench::find_levels(curve_of({})).empty());
  CHECK(bench::find_levels(curve_of({100})).empty());
}

TEST_CASE("a curve that is flat to its end shows memory alone") {
  CHECK(bench::find_levels(curve_of({5, 5.1, 4.9, 5, 5, 5.05})).empty());
}

TEST_CASE("two plateaus that lie close are one level") {
  const auto levels =
      bench::find_levels(curve_of({1000, 1000, 1000, 850, 850, 200, 200, 200, 73, 73}));
  REQUIRE(levels.size() == 2);
  CHECK(levels[0].first == 0);
  CHECK(levels[0].last == 4);
}

TEST_CASE("a dip within a level does not make two of it") {
  const auto levels = bench::find_levels(curve_of({1000, 1000, 600, 1000, 1000, 73, 73, 73}));
  REQUIRE(levels.size() == 1);
  CHECK(levels[0].last == 4);
}

TEST_CASE("a drop within the spread of the measurement is no level") {
  const std::vector<double> rates = {10, 10, 10, 5, 5, 5};
  CHECK(bench::find_levels(curve_of(rates, 0.1)).size() == 1);
  CHECK(bench::find_levels(curve_of(rates, 0.5)).empty());
}

TEST_CASE("noise of a few percent neither makes nor hides a level") {
  std::mt19937_64 random(7);
  std::normal_distribution<double> noise(1, 0.02);
  for (int round = 0; round < 50; ++round) {
    auto rates = std::vector<double>{1500, 1500, 1500, 1500, 400, 400, 400, 400, 73, 73, 73, 73};
    for (double& rate : rates) {
      rate *= noise(random);
    }
    CHECK(bench::find_levels(curve_of(rates)).size() == 2);
  }
}

}  // namespace
}  // namespace gputrace
