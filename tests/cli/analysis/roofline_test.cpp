#include "cli/analysis/roofline.h"

#include <doctest/doctest.h>

#include <cmath>
#include <limits>
#include <string>

namespace gputrace::analysis {
namespace {

DerivedValue value(std::string what, double number, std::string unit) {
  DerivedValue result;
  result.what = std::move(what);
  result.value = number;
  result.unit = std::move(unit);
  return result;
}

BenchRun run_with(std::vector<DerivedValue> derived, TestStatus status = TestStatus::kOk) {
  TestResult test;
  test.id = "roofline.peak";
  test.status = status;
  test.derived = std::move(derived);
  BenchRun run;
  run.tests.push_back(std::move(test));
  return run;
}

TEST_CASE("fp32 and the copy come first, and each pair of them has its ridge") {
  const Roofline roofline =
      make_roofline(run_with({value("peak.fp16", 9000, "GFLOPS"),
                              value("peak.fp32", 4500, "GFLOPS"), value("dram.read", 90, "GB/s"),
                              value("dram.copy", 75, "GB/s"), value("level.1", 1500, "GB/s")}));
  REQUIRE(roofline.compute.size() == 2);
  CHECK(roofline.compute[0].name == "fp32");
  CHECK(roofline.compute[1].name == "fp16");
  REQUIRE(roofline.bandwidth.size() == 3);
  CHECK(roofline.bandwidth[0].name == "DRAM copy");
  CHECK(roofline.bandwidth[1].name == "DRAM read");
  CHECK(roofline.bandwidth[2].name == "level 1");
  REQUIRE(roofline.ridges.size() == 6);
  CHECK(roofline.ridges[0].intensity == doctest::Approx(60));
  CHECK(roofline.ridges[1].intensity == doctest::Approx(120));
  CHECK(roofline.ridges[4].intensity == doctest::Approx(3));
  CHECK_FALSE(roofline.ridges[0].lower.has_value());
}

TEST_CASE("the spread of a ridge is that of its ceilings, at their worst") {
  DerivedValue peak = value("peak.fp32", 1000, "GFLOPS");
  peak.lower = 900;
  peak.upper = 1100;
  DerivedValue copy = value("dram.copy", 100, "GB/s");
  copy.lower = 90;
  copy.upper = 110;
  const Roofline roofline = make_roofline(run_with({peak, copy}));
  REQUIRE(roofline.ridges.size() == 1);
  REQUIRE(roofline.ridges[0].lower.has_value());
  CHECK(*roofline.ridges[0].lower == doctest::Approx(900.0 / 110));
  REQUIRE(roofline.ridges[0].upper.has_value());
  CHECK(*roofline.ridges[0].upper == doctest::Approx(1100.0 / 90));
}

TEST_CASE("a peak of one subgroup size yields to the better one of all") {
  const Roofline roofline = make_roofline(run_with(
      {value("peak.fp32.wave32", 4700, "GFLOPS"), value("peak.fp32.wave64", 4200, "GFLOPS"),
       value("peak.fp32", 4700, "GFLOPS"), value("peak.fp64.wave32", 150, "GFLOPS")}));
  REQUIRE(roofline.compute.size() == 2);
  CHECK(roofline.compute[0].name == "fp32");
  CHECK(roofline.compute[1].name == "fp64 wave32");
}

TEST_CASE("rates of integers have a ceiling and no ridge") {
  const Roofline roofline =
      make_roofline(run_with({value("peak.int32", 830, "GOP/s"), value("dram.copy", 73, "GB/s")}));
  CHECK(roofline.compute.size() == 1);
  CHECK(roofline.ridges.empty());
}

TEST_CASE("what failed, is suspect, zero or no number makes no ceiling") {
  CHECK(make_roofline(run_with({value("peak.fp32", 4700, "GFLOPS")}, TestStatus::kSuspect))
            .compute.empty());
  CHECK(make_roofline(run_with({value("peak.fp32", 4700, "GFLOPS")}, TestStatus::kFailed))
            .compute.empty());
  const Roofline roofline = make_roofline(
      run_with({value("peak.fp32", 0, "GFLOPS"), value("peak.fp16", std::nan(""), "GFLOPS"),
                value("dram.copy", std::numeric_limits<double>::infinity(), "GB/s"),
                value("dram.read", -3, "GB/s")}));
  CHECK(roofline.compute.empty());
  CHECK(roofline.bandwidth.empty());
}

TEST_CASE("points come from the sweep, with the suspect ones marked and the failed ones left out") {
  BenchRun run;
  TestResult sweep;
  sweep.id = "roofline.sweep";
  BenchSeries series;
  series.name = "fp32";
  series.points.resize(3);
  series.points[0].x = 1;
  series.points[0].median = 70;
  series.points[1].x = 2;
  series.points[1].median = 140;
  series.points[1].status = TestStatus::kSuspect;
  series.points[2].x = 4;
  series.points[2].status = TestStatus::kFailed;
  sweep.series.push_back(series);
  run.tests.push_back(sweep);
  const Roofline roofline = make_roofline(run);
  REQUIRE(roofline.points.size() == 2);
  CHECK_FALSE(roofline.points[0].suspect);
  CHECK(roofline.points[1].suspect);
  CHECK(roofline.points[1].gflops == 140);
}

TEST_CASE("below the ridge memory limits, above it the cores do") {
  const Ceiling compute{"fp32", 1000, std::nullopt, std::nullopt, "GFLOPS"};
  const Ceiling bandwidth{"DRAM copy", 100, std::nullopt, std::nullopt, "GB/s"};
  CHECK(attainable(compute, bandwidth, 2) == 200);
  CHECK(attainable(compute, bandwidth, 10) == 1000);
  CHECK(attainable(compute, bandwidth, 40) == 1000);
}

}  // namespace
}  // namespace gputrace::analysis
