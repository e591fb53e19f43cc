#include "cli/analysis/bench_comparison.h"

#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>
#include <random>
#include <span>
#include <string>
#include <vector>

#include "cli/analysis/bench_fail_condition.h"
#include "tests/cli/analysis/known_benches.h"
#include "tests/support/error_text.h"

using namespace gputrace;            // NOLINT(google-build-using-namespace)
using namespace gputrace::analysis;  // NOLINT(google-build-using-namespace)
using namespace gputrace::test;      // NOLINT(google-build-using-namespace)

TEST_CASE("a rate that fell is slower, one that stayed is noise") {
  const BenchComparison comparison = compare_single(run_of({rates(100)}), run_of({rates(90)}));
  const BenchRatio& fma = row(comparison.series, "fma");
  REQUIRE(fma.ratio);
  CHECK(*fma.ratio == doctest::Approx(0.9));
  REQUIRE(fma.interval);
  CHECK(fma.interval->lower < 0.9);
  CHECK(fma.interval->upper > 0.9);
  CHECK(fma.interval->upper < 0.95);
  CHECK(fma.reality == Reality::kReal);
  CHECK(fma.is_rate);
  CHECK_FALSE(fma.less_is_better);
  CHECK(row(comparison.series, "add").reality == Reality::kWithinNoise);
}

TEST_CASE("the interval holds the true ratio as often as it says") {
  // Twenty runs with 3 % scatter on each side, and from one bench to the next a shift that is as
  // large as what the runs leave open; the true ratio is 1.
  std::mt19937 random(7);
  std::normal_distribution<double> scatter(0, 0.03);
  const auto side = [&] {
    const double shift = scatter(random) * 1.2533 / std::sqrt(20.0);
    std::vector<double> runs(20);
    for (double& run : runs) {
      run = std::exp(shift + scatter(random));
    }
    std::sort(runs.begin(), runs.end());
    BenchPoint point = measured(32, (runs[9] + runs[10]) / 2);
    point.p5 = runs[0] + 0.95 * (runs[1] - runs[0]);
    point.p95 = runs[19] - 0.95 * (runs[19] - runs[18]);
    TestResult test = rates(1);
    test.series = {{"fma", {point}}};
    return run_of({test});
  };
  constexpr int kTrials = 2000;
  int held = 0;
  for (int trial = 0; trial < kTrials; ++trial) {
    const BenchComparison comparison = compare_single(side(), side());
    const auto& interval = comparison.series.front().interval;
    REQUIRE(interval);
    held += interval->lower <= 1 && 1 <= interval->upper ? 1 : 0;
  }
  CHECK(held > 0.93 * kTrials);
  CHECK(held < 0.99 * kTrials);
}

TEST_CASE("a curve that rose as a whole is one slower series and as many slower points") {
  const BenchComparison comparison = compare_single(run_of({curve(1)}), run_of({curve(1.2)}));
  REQUIRE(comparison.series.size() == 1);
  const BenchRatio& series = comparison.series.front();
  CHECK(series.points == 4);
  CHECK(*series.ratio == doctest::Approx(1.2));
  CHECK(series.less_is_better);
  CHECK(series.reality == Reality::kReal);
  REQUIRE(comparison.points.size() == 4);
  CHECK(comparison.points[1].x == 65536);
  CHECK(row(comparison.derived, "level.1.size").reality == Reality::kWithinNoise);
  // Without an interval there is a ratio and no verdict.
  const BenchRatio& memory = row(comparison.derived, "memory.latency");
  CHECK(*memory.ratio == doctest::Approx(1.2));
  CHECK(memory.reality == Reality::kCannotTell);
  CHECK_FALSE(memory.why.empty());
}

TEST_CASE("points that move in both directions make no series faster or slower") {
  TestResult moved = curve(1);
  moved.series[0].points[0].median = 15;
  moved.series[0].points[0].p5 = 14.9;
  moved.series[0].points[0].p95 = 15.1;
  moved.series[0].points[3].median = 600;
  moved.series[0].points[3].p5 = 598;
  moved.series[0].points[3].p95 = 602;
  const BenchComparison comparison = compare_single(run_of({curve(1)}), run_of({moved}));
  CHECK(comparison.series.front().reality == Reality::kWithinNoise);
  CHECK(comparison.points[0].reality == Reality::kReal);
  CHECK(comparison.points[3].reality == Reality::kReal);
  CHECK(comparison.points[1].reality == Reality::kWithinNoise);
}

TEST_CASE("runs that drift are known less well") {
  TestResult drifting = rates(104);
  drifting.series[0].points[0].drifts = true;
  const auto width = [](const BenchComparison& comparison) {
    const auto& interval = comparison.series.front().interval;
    return interval ? interval->upper - interval->lower : 0;
  };
  CHECK(width(compare_single(run_of({rates(100)}), run_of({drifting}))) >
        2 * width(compare_single(run_of({rates(100)}), run_of({rates(104)}))));
}

TEST_CASE("clocks and cores are taken out where they are known") {
  TestResult fast = rates(200);
  TestResult slow = rates(100);
  for (TestResult* test : {&fast, &slow}) {
    for (BenchSeries& series : test->series) {
      series.points[0].clock_before_mhz = test == &fast ? 2000 : 1000;
      series.points[0].clock_after_mhz = test == &fast ? 2000 : 1000;
    }
  }
  slow.derived = {{"cores", 8, std::nullopt, std::nullopt, "", "", ""}};
  fast.derived = {{"cores", 16, std::nullopt, std::nullopt, "", "", ""}};
  const BenchComparison comparison = compare_single(run_of({slow}), run_of({fast}));
  const BenchRatio& fma = row(comparison.series, "fma");
  CHECK(*fma.ratio == doctest::Approx(2));
  REQUIRE(fma.per_clock);
  CHECK(*fma.per_clock == doctest::Approx(1));
  REQUIRE(fma.per_core);
  CHECK(*fma.per_core == doctest::Approx(1));
  // A time at half the clock is twice as long in as many clocks.
  TestResult near = curve(1);
  TestResult far = curve(2);
  for (BenchPoint& point : near.series[0].points) {
    point.clock_after_mhz = 2000;
  }
  for (BenchPoint& point : far.series[0].points) {
    point.clock_after_mhz = 1000;
  }
  const BenchComparison times = compare_single(run_of({near}), run_of({far}));
  CHECK(*times.series.front().per_clock == doctest::Approx(1));
  CHECK_FALSE(times.series.front().per_core);
  far.series[0].points[2].clock_after_mhz = std::nullopt;
  CHECK_FALSE(compare_single(run_of({near}), run_of({far})).series.front().per_clock.has_value());
}

TEST_CASE("driver and code that changed are found, device first") {
  BenchRun a = run_of({rates(100)});
  BenchRun b = run_of({rates(200)});
  b.device.driver_info = "Mesa 25.0.7";
  a.tests[0].counts = {{"peak.fp32", "FMA fp32", 32, 32}, {"peak.fp32", "load", 1, std::nullopt}};
  b.tests[0].counts = {{"peak.fp32", "FMA fp32", 32, 16}, {"peak.fp32", "load", 1, 1}};
  a.tests[0].series[0].points[0].code_bytes = 640;
  b.tests[0].series[0].points[0].code_bytes = 512;
  const BenchComparison comparison = compare_single(a, b);
  REQUIRE(comparison.changes.size() == 3);
  CHECK(comparison.changes[0].what == "driver version");
  CHECK(comparison.changes[0].b == "Mesa 25.0.7");
  CHECK(comparison.changes[1].what == "instructions of peak.fp32, FMA fp32");
  CHECK(comparison.changes[2].what == "code of alu.fp32/fma");
  CHECK(comparison.changes[2].a == "640 B");
  CHECK(compare_single(a, a).changes.empty());
}

TEST_CASE("what makes a comparison doubtful is said") {
  BenchRun a = run_of({rates(100)});
  BenchRun b = run_of({rates(100)});
  CHECK(compare_single(a, b).cautions.empty());
  a.quick = true;
  b.device.simulated = true;
  b.cancelled = true;
  a.tests[0].series[1].points[0].drifts = true;
  const BenchComparison comparison = compare_single(a, b);
  REQUIRE(comparison.cautions.size() == 4);
  CHECK(comparison.cautions[3].find("50 % of the points of A drift") == 0);
  CHECK(comparison.cautions[0].find("B is SIMULATED") == 0);
  CHECK(comparison.cautions[1].find("A is a quick run") == 0);
}

TEST_CASE("failed, skipped and missing figures are not compared") {
  TestResult broken = rates(100);
  broken.series[0].points[0].status = TestStatus::kFailed;
  broken.series[1].points[0].median = std::nullopt;
  const BenchComparison none = compare_single(run_of({rates(100)}), run_of({broken}));
  CHECK(none.series.empty());
  CHECK(none.only_in_a == std::vector<std::string>{"alu.fp32"});
  // Figures in another unit are others.
  TestResult other = rates(100);
  other.unit = "GFLOPS";
  CHECK(compare_single(run_of({rates(100)}), run_of({other})).series.empty());
  CHECK(compare_single(run_of({}), run_of({})).series.empty());
  // A point without spread has a ratio and no interval.
  TestResult bare = rates(90);
  bare.series[0].points[0].p5 = std::nullopt;
  const BenchComparison bare_comparison = compare_single(run_of({rates(100)}), run_of({bare}));
  CHECK(bare_comparison.series.front().ratio.has_value());
  CHECK_FALSE(bare_comparison.series.front().interval.has_value());
  CHECK(bare_comparison.series.front().reality == Reality::kCannotTell);
}

TEST_CASE("a condition is about the whole interval") {
  const BenchComparison comparison =
      compare_single(run_of({rates(100), curve(1)}), run_of({rates(90), curve(1.2)}));
  CHECK(verdict("alu.fp32/fma<-5%", comparison).failed);
  CHECK_FALSE(verdict("alu.fp32/fma<-12%", comparison).failed);
  CHECK_FALSE(verdict("alu.fp32/add<-5%", comparison).failed);
  CHECK(verdict("alu.fp32<-5%", comparison).failed);  // any of its series
  CHECK(verdict("latency.vector/1 chain@64KiB > +10 %", comparison).failed);
  CHECK(verdict("latency.vector/1 chain@65536>10%", comparison).failed);
  CHECK_FALSE(verdict("latency.vector/level.1.size>10%", comparison).failed);
  const FailVerdict slower = verdict("slower>5%", comparison);
  CHECK(slower.failed);
  CHECK(slower.explanation.find("alu.fp32/fma") != std::string::npos);
  CHECK(slower.explanation.find("latency.vector/1 chain") != std::string::npos);
  CHECK_FALSE(verdict("slower>25%", comparison).failed);
}

TEST_CASE("a condition that cannot be judged is an error that says what there is") {
  const BenchComparison comparison =
      compare_single(run_of({rates(100), curve(1)}), run_of({rates(90), curve(1.2)}));
  const auto error = [&](std::string_view text) {
    const auto parsed = parse_bench_fail_condition(text);
    REQUIRE(parsed);
    const auto checked = check(*parsed, comparison);
    REQUIRE_FALSE(checked);
    CHECK(checked.error().code == ErrorCode::kInvalidArgument);
    return checked.error().message;
  };
  CHECK(error("alu.fp64<-5%").find("alu.fp32/fma") != std::string::npos);
  CHECK(error("latency.vector/1 chain@3KiB>5%").find("no such thing") != std::string::npos);
  CHECK(error("latency.vector/memory.latency>5%").find("no interval") != std::string::npos);
  for (const char* wrong :
       {"", "alu.fp32", "alu.fp32>5", "alu.fp32>5pp", "alu.fp32>five%", ">5%",
        "alu.fp32/fma@here>5%", "slower<5%", "slower>-5%", "a>nan%", "a>+-5%"}) {
    CAPTURE(wrong);
    const auto parsed = parse_bench_fail_condition(wrong);
    REQUIRE_FALSE(parsed);
    CHECK(parsed.error().code == ErrorCode::kUsage);
  }
}
