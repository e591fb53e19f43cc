// Points of the published tables for the Radeon 780M that are quick to compute. All of them:
// published_long_test.cpp. Errors are those of the model as it was accepted, so that a change of
// its rules or constants shows here.
#include <doctest/doctest.h>

#include <array>
#include <vector>

#include "tests/daemon/simulated_gpu/model_figures.h"

namespace gputrace::test {
namespace {

using namespace simulated_gpu;

const GpuDescription& radeon_780m() {
  return find_simulated_model("780m")->gpu;
}

TEST_CASE("the scalar FP32 peak is the published 4,700 GFLOPS at 2.6 GHz") {
  const OperatingPoint point = solve(radeon_780m(), scalar_peak(), 54);
  CHECK(point.clock_ghz == doctest::Approx(2.6));
  CHECK(gflops(point) == doctest::Approx(4700).epsilon(0.005));
}

TEST_CASE("a streaming kernel reaches the copy bandwidth, whatever its few FLOPs") {
  for (const double fma : {1.0, 8.0}) {
    const OperatingPoint point = solve(radeon_780m(), flop_sweep(fma), 54);
    CAPTURE(fma);
    CHECK(gbps(point) == doctest::Approx(73.2).epsilon(0.005));
    // The article counts one of the kernel's four chains: 18 and 147 GFLOPS.
    CHECK(gflops(point) / 4 == doctest::Approx(18.3 * fma).epsilon(0.01));
  }
}

TEST_CASE("the compute ceiling of the sweep is the published one for three parts of one die") {
  // The error of the 760M's figure is -1 %, those of the others 0.
  constexpr std::array<std::pair<std::string_view, double>, 3> kPeaks{
      {{"740m", 420}, {"760m", 783}, {"780m", 1178}}};
  for (const auto& [key, published] : kPeaks) {
    CAPTURE(key);
    const OperatingPoint point = solve(find_simulated_model(key)->gpu, flop_sweep(128), 65);
    CHECK(gflops(point) / 4 == doctest::Approx(published).epsilon(0.01));
  }
}

TEST_CASE("busy bits of a streaming kernel are within 3 points of the published ones") {
  const std::vector<SteadySignal> low = {build(radeon_780m(), flop_sweep(1), 54, 1),
                                         build(radeon_780m(), flop_sweep(2), 54, 1)};
  constexpr std::array<PublishedBusy, 7> kRows{{{Unit::kGui, 95, 1},
                                                {Unit::kSpi, 95, 1},
                                                {Unit::kTa, 95, 1},
                                                {Unit::kTcp, 93, 3},
                                                {Unit::kGl1, 93, 3},
                                                {Unit::kGl2, 95, 1},
                                                {Unit::kEa, 95, 1}}};
  check_busy(low, kRows);
}

TEST_CASE("busy bits of a frame of middling weight of the game at 54 W have the stated errors") {
  // Over all weights, some bound by the CPU, the busy bits are 1 to 2 points lower.
  const std::vector<SteadySignal> game = {build(radeon_780m(), game_frame({}), 54, 1)};
  constexpr std::array<PublishedBusy, 10> kRows{{{Unit::kGui, 99, 0.2},
                                                 {Unit::kSpi, 97, 1.7},
                                                 {Unit::kTa, 83, 0.1},
                                                 {Unit::kSc, 94, 4.4},
                                                 {Unit::kDb, 93, 5.9},
                                                 {Unit::kCb, 74, -1.8},
                                                 {Unit::kTcp, 84, -1.0},
                                                 {Unit::kGl1, 94, -9.2},
                                                 {Unit::kGl2, 95, -10.7},
                                                 {Unit::kEa, 93, -9.3}}};
  check_busy(game, kRows);
}

TEST_CASE("a pointer chase keeps EA busy at a hundredth of the bandwidth") {
  struct Row {
    int chains;
    double ea_percent;
    double gbps;
  };
  constexpr std::array<Row, 3> kRows{{{1, 63.2, 0.26}, {2, 85.6, 0.52}, {4, 95.9, 1.04}}};
  for (const Row& row : kRows) {
    CAPTURE(row.chains);
    const SteadySignal chase =
        build(radeon_780m(), pointer_chase(radeon_780m(), row.chains, 64), 54, 1);
    CHECK(busy_percent(chase, Unit::kEa) == doctest::Approx(row.ea_percent).epsilon(0.01));
    CHECK(busy_percent(chase, Unit::kTa) == doctest::Approx(97.3).epsilon(0.005));
    CHECK(chase.operating_point().dram_gbps() == doctest::Approx(row.gbps).epsilon(0.02));
  }
}

TEST_CASE("texture rates with 16 fetches are within 4 percent of the published ones") {
  CHECK(gtexels(solve(radeon_780m(), random_texture(radeon_780m(), 64, 16), 54), 16) ==
        doctest::Approx(44.0).epsilon(0.01));  // 45.8 published
  CHECK(gtexels(solve(radeon_780m(), coherent_texture(64, 16), 54), 16) ==
        doctest::Approx(125.4).epsilon(0.01));  // 123.0 published
}

TEST_CASE("an RGBA8 fill is bound by DRAM and an R8 fill by the launch of waves") {
  CHECK(gpixels(solve(radeon_780m(), colour_fill(0, 4, 0.588), 54)) ==
        doctest::Approx(20.8).epsilon(0.005));
  CHECK(gpixels(solve(radeon_780m(), colour_fill(0.5, 1, 0.71), 54)) ==
        doctest::Approx(63.6).epsilon(0.01));
}

TEST_CASE("a lower power limit lowers clock and throughput") {
  const OperatingPoint capped = solve(radeon_780m(), flop_sweep(32), 15);
  const OperatingPoint free = solve(radeon_780m(), flop_sweep(32), 54);
  CHECK(capped.power_w <= 15);
  CHECK(capped.power_w > 14.8);
  CHECK(gflops(capped) / 4 == doctest::Approx(345).epsilon(0.01));  // 345 published
  CHECK(free.clock_ghz == doctest::Approx(2.6));
  CHECK(gflops(capped) < gflops(free));
}

TEST_CASE("a limit below what the least clock draws still gives an operating point") {
  const OperatingPoint starved = solve(radeon_780m(), flop_sweep(2), 1);
  CHECK(starved.clock_ghz == doctest::Approx(0.4).epsilon(0.02));
  CHECK(starved.power_w > 1);
}

}  // namespace
}  // namespace gputrace::test
