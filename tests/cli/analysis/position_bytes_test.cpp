#include <doctest/doctest.h>

#include <limits>
#include <string>
#include <utility>

#include "cli/analysis/position.h"

namespace gputrace::analysis {
namespace {

using doctest::Approx;

const Ceiling kPeak{.name = "fp32", .value = 4600, .lower = {}, .upper = {}, .unit = "GFLOPS"};
const Ceiling kCopy{.name = "DRAM copy", .value = 73, .lower = {}, .upper = {}, .unit = "GB/s"};

MemoryWitness witness(std::optional<double> gbps, std::string covers = {}) {
  MemoryWitness result;
  result.source = "pmu amd_umc";
  result.gbps = gbps;
  result.covers = std::move(covers);
  return result;
}

std::optional<Position> by_bytes(double gbps) {
  return place_by_bytes(witness(gbps), kPeak, kCopy);
}

Position by_curve(std::optional<double> lower, std::optional<double> upper) {
  const double ridge = kPeak.value / kCopy.value;
  Position position;
  position.intensity = {lower, upper};
  position.of_ridge = {lower ? std::optional(*lower / ridge) : std::nullopt,
                       upper ? std::optional(*upper / ridge) : std::nullopt};
  return position;
}

TEST_CASE("bytes give their rate and an upper end of the intensity") {
  const auto position = by_bytes(36.5);
  REQUIRE(position.has_value());
  CHECK(position->basis == PositionBasis::kDramBytes);
  REQUIRE(position->gbps.has_value());
  CHECK(position->gbps->lower == 36.5);
  CHECK(position->gbps->upper == 36.5);
  CHECK_FALSE(position->intensity.lower.has_value());
  CHECK(position->intensity.upper.value_or(0) == Approx(4600 / 36.5));
  CHECK(position->of_ridge.upper.value_or(0) == Approx(2));
  REQUIRE(position->notes.size() == 1);
  CHECK(position->notes[0].find("only where computing is the limit") != std::string::npos);
}

TEST_CASE("without bytes, or with none moved, there is no bound") {
  CHECK_FALSE(place_by_bytes(witness(std::nullopt), kPeak, kCopy).has_value());
  CHECK_FALSE(by_bytes(std::numeric_limits<double>::quiet_NaN()).has_value());
  const auto idle = by_bytes(0);
  REQUIRE(idle.has_value());
  CHECK_FALSE(idle->intensity.upper.has_value());
  CHECK_FALSE(idle->of_ridge.upper.has_value());
  const auto bare = place_by_bytes(witness(10), std::nullopt, std::nullopt);
  REQUIRE(bare.has_value());
  CHECK(bare->gbps.has_value());
  CHECK_FALSE(bare->intensity.upper.has_value());
}

TEST_CASE("bytes of CPU and GPU together are said to be that") {
  const auto position = place_by_bytes(witness(40, "CPU and GPU together"), kPeak, kCopy);
  REQUIRE(position.has_value());
  CHECK(position->notes.back().find("CPU and GPU together") != std::string::npos);
}

TEST_CASE("together the curve's interval ends where the bytes' bound does") {
  const auto both = combine(by_curve(90, 200), by_bytes(40));
  REQUIRE(both.has_value());
  CHECK(both->basis == PositionBasis::kCalibration);
  CHECK(both->intensity.lower.value_or(0) == 90);
  CHECK(both->intensity.upper.value_or(0) == Approx(115));
  REQUIRE(both->gbps.has_value());
  REQUIRE(both->gflops.has_value());
  CHECK(both->gflops->lower.value_or(0) == Approx(3600));
  CHECK(both->gflops->upper.value_or(0) == Approx(4600));
}

TEST_CASE("left of the ridge the bytes add their rate") {
  const auto both = combine(by_curve(std::nullopt, 60), by_bytes(70));
  REQUIRE(both.has_value());
  CHECK_FALSE(both->intensity.lower.has_value());
  CHECK(both->intensity.upper.value_or(0) == 60);
  CHECK(both->gflops->upper.value_or(0) == Approx(4200));
}

TEST_CASE("where they contradict each other the bytes are followed, and a note says so") {
  const auto both = combine(by_curve(200, 400), by_bytes(40));
  REQUIRE(both.has_value());
  CHECK(both->basis == PositionBasis::kDramBytes);
  CHECK(both->intensity.upper.value_or(0) == Approx(115));
  CHECK(both->notes.back().find("do not allow") != std::string::npos);
}

TEST_CASE("work that moves far fewer bytes than its busy fractions mean is off the roof") {
  const auto both = combine(by_curve(80, 150), by_bytes(2));
  REQUIRE(both.has_value());
  CHECK(both->basis == PositionBasis::kDramBytes);
  CHECK_FALSE(both->intensity.lower.has_value());
  CHECK(both->notes.back().find("waits for something else") != std::string::npos);
}

TEST_CASE("one alone is what there is, and none is none") {
  CHECK(combine(by_curve(80, 150), std::nullopt)->basis == PositionBasis::kCalibration);
  CHECK(combine(std::nullopt, by_bytes(40))->basis == PositionBasis::kDramBytes);
  CHECK_FALSE(combine(std::nullopt, std::nullopt).has_value());
}

}  // namespace
}  // namespace gputrace::analysis
