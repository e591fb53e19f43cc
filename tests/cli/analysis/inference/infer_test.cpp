#include <doctest/doctest.h>
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "cli/analysis/inference.h"
#include "cli/analysis/inference/confidence.h"
#include "cli/analysis/inference/curve.h"
#include "cli/analysis/inference/granules.h"
#include "cli/analysis/inference/miss_shapes.h"
#include "cli/analysis/inference/share_fit.h"

namespace gputrace::analysis {
namespace {

constexpr double kKiB = 1024;
constexpr double kMiB = 1024 * kKiB;

BenchPoint point(double x, double y) {
  BenchPoint result;
  result.x = x;
  result.median = y;
  return result;
}

using Cost = std::function<double(double bytes)>;

BenchSeries series(const std::string& name, double from, double to, double factor,
                   const Cost& cost) {
  BenchSeries result{name, {}};
  for (double bytes = from; bytes <= to * 1.001; bytes *= factor) {
    const double whole = std::round(bytes);  // else a size of 2^k is a little more
    result.points.push_back(point(whole, cost(whole)));
  }
  return result;
}

TestResult test_of(const std::string& id, std::vector<BenchSeries> all) {
  TestResult test;
  test.id = id;
  test.series = std::move(all);
  return test;
}

/// 30 ns to 32 KiB, 60 ns to 1 MiB, then 200 ns; what fits is hit.
double two_levels(double bytes) {
  const auto missed = [bytes](double size) { return bytes <= size ? 0 : 1 - size / bytes; };
  return 30 + 30 * missed(32 * kKiB) + 140 * missed(kMiB);
}

const DerivedValue* find(const TestResult& test, const std::string& what) {
  for (const DerivedValue& value : test.derived) {
    if (value.what == what) {
      return &value;
    }
  }
  return nullptr;
}

TestResult inferred(TestResult test) {
  BenchRun run;
  run.tests.push_back(std::move(test));
  infer(run);
  return run.tests[0];
}

TEST_CASE("two levels have their sizes and latencies, with the truth in the intervals") {
  const TestResult test = inferred(test_of(
      "latency.vector", {series("1 chain", 4 * kKiB, 64 * kMiB, std::sqrt(2.0), two_levels)}));
  const DerivedValue* const first = find(test, "level.1.size");
  const DerivedValue* const second = find(test, "level.2.size");
  REQUIRE(first != nullptr);
  REQUIRE(second != nullptr);
  CHECK(first->value == doctest::Approx(32 * kKiB).epsilon(0.25));
  CHECK(first->lower.value_or(0) <= 32 * kKiB);
  CHECK(first->upper.value_or(0) >= 32 * kKiB);
  CHECK(second->value == doctest::Approx(kMiB).epsilon(0.25));
  CHECK(find(test, "level.3.size") == nullptr);
  REQUIRE(find(test, "level.1.latency") != nullptr);
  CHECK(find(test, "level.1.latency")->value == doctest::Approx(30).epsilon(0.03));
  REQUIRE(find(test, "memory.latency") != nullptr);
  CHECK(find(test, "memory.latency")->value == doctest::Approx(200).epsilon(0.05));
}

TEST_CASE("a curve alone is never sure; what could be a TLB is said") {
  const TestResult test = inferred(test_of(
      "latency.vector", {series("1 chain", 4 * kKiB, 64 * kMiB, std::sqrt(2.0), two_levels)}));
  for (const DerivedValue& value : test.derived) {
    CHECK(value.confidence != "sure");
    CHECK_FALSE(value.confidence.empty());
  }
  REQUIRE(find(test, "level.2.size") != nullptr);
  CHECK(find(test, "level.2.size")->by.find("TLB") != std::string::npos);
}

/// As two_levels(): hops of 75, 150 and 500 clocks.
TestResult hops_of_two_levels() {
  TestResult hops = test_of("latency.hops", {});
  for (double bytes = 4 * kKiB; bytes <= 64 * kMiB; bytes *= 2) {
    const double first = std::min(1.0, 32 * kKiB / bytes);
    const double second = std::min(1.0, kMiB / bytes);
    hops.series.push_back({fmt::format("{} B", bytes),
                           {point(75, first), point(150, second - first), point(500, 1 - second)}});
  }
  return hops;
}

TEST_CASE("hops and bandwidth make a level sure, and bandwidth alone does not") {
  BenchRun run;
  run.tests.push_back(test_of(
      "latency.vector", {series("1 chain", 4 * kKiB, 64 * kMiB, std::sqrt(2.0), two_levels)}));
  const Cost gbps = [](double bytes) {
    return bytes <= 32 * kKiB ? 2000.0 : bytes <= kMiB ? 800.0 : 100.0;
  };
  run.tests.push_back(
      test_of("bandwidth.read", {series("shared", 4 * kKiB, 64 * kMiB, std::sqrt(2.0), gbps)}));
  run.tests[1].unit = "GB/s";
  infer(run);
  REQUIRE(find(run.tests[0], "level.2.size") != nullptr);
  CHECK(find(run.tests[0], "level.2.size")->confidence == "likely");
  CHECK(find(run.tests[0], "level.2.size")->by.find("bandwidth") != std::string::npos);
  REQUIRE(find(run.tests[1], "level.2.read") != nullptr);
  CHECK(find(run.tests[1], "level.2.read")->value == doctest::Approx(800));
  REQUIRE(find(run.tests[1], "dram.read") != nullptr);
  CHECK(find(run.tests[1], "dram.read")->value == doctest::Approx(100));
  for (TestResult& each : run.tests) {
    each.derived.clear();
  }
  run.tests.push_back(hops_of_two_levels());
  infer(run);
  REQUIRE(find(run.tests[0], "level.2.size") != nullptr);
  CHECK(find(run.tests[0], "level.2.size")->confidence == "sure");
  CHECK(find(run.tests[0], "level.2.size")->value == doctest::Approx(kMiB).epsilon(0.2));
}

TEST_CASE(
    "the rate of memory is not that of sizes of which the last level still serves its share") {
  BenchRun run;
  run.tests.push_back(test_of(
      "latency.vector", {series("1 chain", 4 * kKiB, 64 * kMiB, std::sqrt(2.0), two_levels)}));
  const Cost gbps = [](double bytes) {
    return bytes <= 32 * kKiB ? 2000.0
                              : std::min(800.0, 100.0 / (1 - std::min(0.99, kMiB / bytes)));
  };
  run.tests.push_back(
      test_of("bandwidth.read", {series("shared", 4 * kKiB, 64 * kMiB, std::sqrt(2.0), gbps)}));
  run.tests[1].unit = "GB/s";
  infer(run);
  const DerivedValue* memory = find(run.tests[1], "dram.read");
  REQUIRE(memory != nullptr);
  CHECK(memory->value == doctest::Approx(100).epsilon(0.05));
  CHECK(memory->confidence == "likely");
}

TEST_CASE("no level is read from one plateau, from a falling curve, or from four points") {
  const Cost flat = [](double bytes) { return 30 + 0.1 * std::sin(bytes); };
  const Cost falling = [](double bytes) { return 300 / std::log2(bytes); };
  for (const Cost& cost : {flat, falling}) {
    const TestResult test =
        inferred(test_of("latency.vector", {series("1 chain", 4 * kKiB, 16 * kMiB, 2, cost)}));
    CHECK(find(test, "level.1.size") == nullptr);
  }
  const TestResult few =
      inferred(test_of("latency.vector", {series("1 chain", 4 * kKiB, kMiB, 8, two_levels)}));
  CHECK(few.derived.empty());
}

TEST_CASE("five points far apart give a guess at most") {
  const TestResult test =
      inferred(test_of("latency.vector", {series("1 chain", 4 * kKiB, 16 * kMiB, 8, two_levels)}));
  for (const DerivedValue& value : test.derived) {
    if (value.what.ends_with(".size")) {
      CHECK(value.confidence == "a guess");
    }
  }
}

TEST_CASE("suspect, failed and infinite points say nothing") {
  TestResult test = test_of("latency.vector",
                            {series("1 chain", 4 * kKiB, 64 * kMiB, std::sqrt(2.0), two_levels)});
  TestResult without = test;
  for (std::size_t i = 3; i < test.series[0].points.size(); i += 5) {
    test.series[0].points[i].status = i % 2 == 0 ? TestStatus::kSuspect : TestStatus::kFailed;
    test.series[0].points[i].median = 5000;
    without.series[0].points[i].median = std::nullopt;
  }
  test.series[0].points.push_back(point(kMiB, INFINITY));
  test.series[0].points.push_back(point(-1, 30));
  const TestResult a = inferred(test);
  const TestResult b = inferred(without);
  REQUIRE(a.derived.size() == b.derived.size());
  for (std::size_t i = 0; i < a.derived.size(); ++i) {
    CHECK(a.derived[i].what == b.derived[i].what);
    CHECK(a.derived[i].value == b.derived[i].value);
  }
}

TEST_CASE("strides tell lines of 128 bytes and pages of 64 KiB") {
  constexpr double kLine = 128;
  constexpr double kPage = 64 * kKiB;
  std::vector<BenchSeries> all;
  for (const double stride :
       {32.0, 64.0, 128.0, 256.0, 1024.0, 4096.0, 16384.0, 65536.0, 262144.0}) {
    const auto cost = [=](double bytes) {
      const double cache = 512 * std::max(stride, kLine);
      const double tlb = 256 * std::max(stride, kPage);
      return 30.0 + (bytes > cache ? 60.0 : 0.0) + (bytes > tlb ? 80.0 : 0.0);
    };
    const std::string name =
        stride >= kKiB ? fmt::format("{} KiB", stride / kKiB) : fmt::format("{} B", stride);
    all.push_back(series(name, 8 * stride, 1024 * kMiB, std::sqrt(2.0), cost));
  }
  const TestResult test = inferred(test_of("stride.jittered", std::move(all)));
  REQUIRE(find(test, "line.size") != nullptr);
  CHECK(find(test, "line.size")->value == 128);
  REQUIRE(find(test, "tlb.1.page") != nullptr);
  CHECK(find(test, "tlb.1.page")->value == kPage);
  CHECK(find(test, "tlb.1.reach")->value == doctest::Approx(16 * kMiB).epsilon(0.25));
}

/// 32 Ki lines of 64 bytes; strides within a page keep to a few sets unless their lines are drawn.
TestResult strides_of_one_cache(const std::string& id, bool jittered) {
  std::vector<BenchSeries> all;
  for (const double stride : {16.0, 32.0, 64.0, 1024.0, 2048.0, 4096.0, 16384.0, 65536.0}) {
    const double seen = jittered ? std::max(stride, 64.0) : std::max(stride / (4 * kKiB), 1.0) * 64;
    const auto cost = [=](double bytes) { return bytes > 32768 * seen ? 120.0 : 30.0; };
    const std::string name =
        stride >= kKiB ? fmt::format("{} KiB", stride / kKiB) : fmt::format("{} B", stride);
    all.push_back(series(name, 8 * stride, 4096 * kMiB, std::sqrt(2.0), cost));
  }
  return test_of(id, std::move(all));
}

TEST_CASE("a cache that plain strides show as one of pages is one of lines, and it is said why") {
  BenchRun run;
  run.tests = {strides_of_one_cache("stride.plain", false),
               strides_of_one_cache("stride.jittered", true)};
  infer(run);
  const DerivedValue* const line = find(run.tests[1], "line.size");
  REQUIRE(line != nullptr);
  CHECK(line->by.find("physically indexed") != std::string::npos);
  CHECK(line->by.find("cannot be told apart") != std::string::npos);
  CHECK(find(run.tests[1], "tlb.1.reach") == nullptr);
  // Without jittered strides it might be pages: no more than a guess.
  BenchRun plain;
  plain.tests = {strides_of_one_cache("stride.plain", false)};
  infer(plain);
  const DerivedValue* const page = find(plain.tests[0], "tlb.1.reach");
  REQUIRE(page != nullptr);
  CHECK(page->confidence == "a guess");
  CHECK(page->value == doctest::Approx(2 * kMiB).epsilon(0.25));
}

TEST_CASE("what a cache of lines holds is right when strides begin at its line or above") {
  for (const double smallest : {32.0, 64.0, 256.0}) {
    CAPTURE(smallest);
    std::vector<inference::StrideKnees> strides;
    for (double stride = smallest; stride <= 8 * smallest; stride *= 2) {
      const double knee = 512 * std::max(64.0, stride);
      strides.push_back({.stride = stride,
                         .smallest = 8 * stride,
                         .largest = 64 * kMiB,
                         .knees = {{knee, knee / 1.1, knee * 1.1}}});
    }
    const auto granules = inference::join_strides(strides);
    REQUIRE(granules.size() == 1);
    CHECK(granules[0].granule == std::max(64.0, smallest));
    CHECK(granules[0].granule_lower <= 64);
    CHECK(granules[0].entries == 512);
    CHECK(granules[0].capacity() == 512 * std::max(64.0, smallest));
  }
}

TEST_CASE("shares that are missed say the size of a cache, of two ways as of many") {
  using inference::MissShape;
  std::vector<double> bytes;
  for (double size = 4 * kKiB; size <= 16 * kMiB; size *= 2) {
    bytes.push_back(size);
  }
  for (const MissShape shape : {MissShape::kSharp, MissShape::kPoisson16, MissShape::kPoisson2,
                                MissShape::kRandomPoisson2Pairs}) {
    for (const double truth : {100 * kKiB, 181 * kKiB, 256 * kKiB}) {
      CAPTURE(static_cast<int>(shape));
      CAPTURE(truth);
      std::vector<double> missed;
      missed.reserve(bytes.size());
      for (const double size : bytes) {
        missed.push_back(inference::miss_share_of_octaves(shape, std::log2(size / truth)));
      }
      const inference::ShareFit fit = inference::fit_missed_share(bytes, missed);
      CHECK(fit.error < 0.01);
      CHECK(fit.size.value > truth * 0.7);
      CHECK(fit.size.value < truth * 1.35);
      CHECK(fit.size.lower <= truth);
      CHECK(fit.size.upper >= truth);
    }
  }
  // Half of what is missed at every size is no cache.
  CHECK(inference::fit_missed_share(bytes, std::vector<double>(bytes.size(), 0.5)).error > 0.1);
}

TestResult code_test(const std::string& id, double limit) {
  const Cost rate = [limit](double bytes) { return bytes <= limit ? 2.0 : 0.7; };
  return test_of(id, {series("1 wave", kKiB, 256 * kKiB, std::sqrt(2.0), rate)});
}

TEST_CASE("a limit of code in bytes is a cache, and one in instructions is not") {
  BenchRun cache;
  cache.tests = {code_test("icache.4B", 32 * kKiB), code_test("icache.8B", 32 * kKiB)};
  infer(cache);
  REQUIRE(find(cache.tests[0], "icache.1.size") != nullptr);
  CHECK(find(cache.tests[0], "icache.1.size")->confidence == "sure");
  BenchRun other;
  other.tests = {code_test("icache.4B", 16 * kKiB), code_test("icache.8B", 32 * kKiB)};
  infer(other);
  REQUIRE(find(other.tests[0], "icache.1.size") != nullptr);
  CHECK(find(other.tests[0], "icache.1.size")->confidence == "a guess");
  CHECK(find(other.tests[0], "icache.1.size")->by.find("not a cache") != std::string::npos);
}

TEST_CASE("slots are sure when census and steps agree; registers come in the step that fits") {
  TestResult test;
  test.id = "occupancy.registers";
  BenchSeries census{"census", {}};
  BenchSeries steps{"steps", {}};
  for (const double registers : {24.0, 40.0, 56.0, 72.0, 90.0, 120.0}) {
    const double taken = std::ceil(registers / 8) * 8;
    const double groups = 24 * std::min(16.0, std::floor(512 / taken));
    BenchPoint counted = point(registers - 8, groups);
    counted.vgprs = registers;
    census.points.push_back(counted);
    BenchPoint timed = point(registers - 8, groups);
    timed.p5 = groups;
    timed.p95 = groups + 3;
    steps.points.push_back(timed);
  }
  test.series = {census, steps};
  const TestResult read = inferred(test);
  REQUIRE(find(read, "slots") != nullptr);
  CHECK(find(read, "slots")->value == 384);
  CHECK(find(read, "slots")->confidence == "sure");
  REQUIRE(find(read, "registers.step") != nullptr);
  CHECK(find(read, "registers.step")->lower.value_or(99) <= 8);
  CHECK(find(read, "registers.step")->upper.value_or(0) >= 8);
}

TEST_CASE("a usual size is named only when it is the only one") {
  using inference::nominal_size;
  CHECK(nominal_size({1000, 950, 1100}) == 1024.0);
  CHECK_FALSE(nominal_size({1100, 1000, 1300}).has_value());
  CHECK_FALSE(nominal_size({1100, 1050, 1200}).has_value());
  CHECK(inference::bytes_of_name("5.7 KiB") == doctest::Approx(5836.8));
  CHECK(inference::bytes_of_name("1 chain") == 0);
}

TEST_CASE("a run without curves stays as it is") {
  BenchRun run;
  infer(run);
  CHECK(run.tests.empty());
  run.tests.push_back(test_of("latency.vector", {}));
  run.tests.push_back(test_of("bandwidth.read", {}));
  run.tests.push_back(test_of("stride.plain", {}));
  infer(run);
  for (const TestResult& test : run.tests) {
    CHECK(test.derived.empty());
  }
}

}  // namespace
}  // namespace gputrace::analysis
