#include "cli/analysis/roofline_limits.h"

#include <doctest/doctest.h>

#include <string>
#include <utility>
#include <vector>

namespace gputrace::analysis {
namespace {

DerivedValue value(std::string what, double number, std::string unit) {
  DerivedValue result;
  result.what = std::move(what);
  result.value = number;
  result.unit = std::move(unit);
  return result;
}

BenchRun run_with(std::vector<DerivedValue> derived) {
  BenchRun run;
  run.tests.resize(1);
  run.tests[0].id = "bandwidth.read";
  run.tests[0].derived = {value("peak.fp32", 4000, "GFLOPS"), value("dram.copy", 80, "GB/s"),
                          value("level.1.read", 2000, "GB/s"), value("level.1.size", 32768, "B")};
  for (DerivedValue& each : derived) {
    run.tests[0].derived.push_back(std::move(each));
  }
  return run;
}

TEST_CASE("a workload 5 % above its roof says that the roof is too low") {
  const auto with = [](double gflops) {
    return make_roofline(run_with({value("point.lbm.fp32.intensity", 1, "FLOP/B"),
                                   value("point.lbm.fp32.gflops", gflops, "GFLOPS")}));
  };
  CHECK(with(83).warnings.empty());
  const Roofline above = with(90);
  REQUIRE(above.points.size() == 1);
  CHECK(above.points[0].label == "lbm.fp32");
  REQUIRE(above.warnings.size() == 1);
  CHECK(above.warnings[0].find("DRAM") != std::string::npos);
}

TEST_CASE(
    "a workload that a cache holds is held against that level, and one of arithmetic to fp32") {
  CHECK(make_roofline(run_with({value("point.small.intensity", 1, "FLOP/B"),
                                value("point.small.working_set", 16384, "B"),
                                value("point.small.gflops", 1500, "GFLOPS")}))
            .warnings.empty());
  const Roofline md = make_roofline(run_with(
      {value("point.md.intensity", 500, "FLOP/B"), value("point.md.gflops", 4500, "GFLOPS")}));
  REQUIRE(md.warnings.size() == 1);
  CHECK(md.warnings[0].find("fp32") != std::string::npos);
}

TEST_CASE("a point without its rate, or of a suspect test, warns of nothing") {
  CHECK(make_roofline(run_with({value("point.lbm.intensity", 1, "FLOP/B")})).points.empty());
  BenchRun run = run_with({});
  TestResult lbm;
  lbm.id = "lbm";
  lbm.status = TestStatus::kSuspect;
  lbm.derived = {value("point.lbm.intensity", 1, "FLOP/B"),
                 value("point.lbm.gflops", 900, "GFLOPS")};
  run.tests.push_back(lbm);
  const Roofline roofline = make_roofline(run);
  REQUIRE(roofline.points.size() == 1);
  CHECK(roofline.points[0].suspect);
  CHECK(roofline.warnings.empty());
}

TEST_CASE("few waves cannot ask a level for all it gives, and that roof has no ridge") {
  const Roofline roofline =
      make_roofline(run_with({value("slots", 100, "groups"), value("level.1.latency", 32, "ns"),
                              value("memory.latency", 256, "ns")}));
  // 100 waves of 256 bytes: 800 GB/s of level 1, below its 2000; 100 of DRAM, above its 80.
  REQUIRE(roofline.bandwidth.size() == 3);
  CHECK(roofline.bandwidth[0].name == "DRAM copy");
  CHECK(roofline.bandwidth[2].name == "level 1, a load a wave");
  CHECK(roofline.bandwidth[2].value == doctest::Approx(800));
  for (const Ridge& ridge : roofline.ridges) {
    CHECK(ridge.bandwidth < 2);
  }
}

}  // namespace
}  // namespace gputrace::analysis
