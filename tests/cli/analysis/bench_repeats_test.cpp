// Benches with repeats, and how often what is equal is called different.
#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <random>
#include <span>
#include <string>
#include <vector>

#include "cli/analysis/bench_comparison.h"
#include "tests/cli/analysis/known_benches.h"

using namespace gputrace;            // NOLINT(google-build-using-namespace)
using namespace gputrace::analysis;  // NOLINT(google-build-using-namespace)
using namespace gputrace::test;      // NOLINT(google-build-using-namespace)

namespace {

/// A bench of 60 rates whose runs agree to 0.3 %, and which differs from other benches by
/// `between`, with the tails of a busy machine: a t distribution with 3 degrees of freedom. The
/// first ten are `factor` times as fast.
class Benches {
 public:
  Benches(std::uint32_t seed, double between) : random_(seed), between_(between) {}

  [[nodiscard]] BenchRun one(double factor = 1) {
    TestResult test = rates(1);
    test.series.clear();
    for (int i = 0; i < 60; ++i) {
      const double rate = (i < 10 ? factor : 1) * std::exp(between_ * shift_(random_));
      test.series.push_back({"op " + std::to_string(i), {measured(32, 100 * rate, 0.005)}});
    }
    return run_of({test});
  }
  [[nodiscard]] std::vector<BenchRun> several(int count, double factor = 1) {
    std::vector<BenchRun> runs(static_cast<std::size_t>(count));
    std::ranges::generate(runs, [&] { return one(factor); });
    return runs;
  }

 private:
  std::mt19937 random_;
  std::student_t_distribution<double> shift_{3};
  double between_;
};

std::size_t really_changed(const BenchComparison& comparison) {
  return static_cast<std::size_t>(
      std::ranges::count(comparison.series, Reality::kReal, &BenchRatio::reality));
}

}  // namespace

TEST_CASE("equal benches are hardly ever called different, alone or in repeats") {
  constexpr int kTrials = 60;
  std::size_t single = 0;
  std::size_t repeated = 0;
  int failed = 0;
  for (std::uint32_t trial = 0; trial < kTrials; ++trial) {
    // Alone: shifts as large as the runs' own errors, some of them much larger.
    Benches close(trial, 0.0009);
    const std::vector<BenchRun> a = close.several(1);
    const std::vector<BenchRun> b = close.several(1);
    const BenchComparison alone = compare_benches(a, b);
    single += really_changed(alone);
    failed += verdict("slower>0%", alone).failed || verdict("alu.fp32<0%", alone).failed ? 1 : 0;
    // Repeats: thirty times as large, of which no single run knows.
    Benches apart(1000 + trial, 0.03);
    const std::vector<BenchRun> many_a = apart.several(3);
    const std::vector<BenchRun> many_b = apart.several(3);
    repeated += really_changed(compare_benches(many_a, many_b));
  }
  CHECK(single <= 60 * kTrials / 200);
  CHECK(repeated <= 60 * kTrials / 200);
  CHECK(failed <= kTrials / 10);
}

TEST_CASE("repeats find a change that is larger than what they differ by") {
  Benches benches(5, 0.01);
  const std::vector<BenchRun> before = benches.several(3);
  const std::vector<BenchRun> after = benches.several(3, 0.85);
  const BenchComparison comparison = compare_benches(before, after);
  CHECK(really_changed(comparison) >= 9);
  CHECK(really_changed(comparison) <= 10);
  CHECK(row(comparison.series, "op 3").reality == Reality::kReal);
  CHECK(verdict("slower>5%", comparison).failed);
  CHECK_FALSE(verdict("slower>20%", comparison).failed);
  // One of a side is enough where the other has repeats.
  CHECK(really_changed(compare_benches(std::span(before).first(1), after)) >= 5);
}

TEST_CASE("repeats give values without interval one, and are told where they are none") {
  const auto memory = [](double ns) {
    TestResult test = curve(1);
    test.derived = {{"memory.latency", ns, std::nullopt, std::nullopt, "ns", "", ""},
                    {"level.1.size", 32768 * ns / 300, 32000, 33000, "B", "a guess", ""}};
    return run_of({test});
  };
  std::vector<BenchRun> a{memory(300), memory(303)};
  const std::vector<BenchRun> b{memory(360), memory(357)};
  const BenchComparison comparison = compare_benches(a, b);
  CHECK(row(comparison.derived, "memory.latency").reality == Reality::kReal);
  CHECK(row(comparison.derived, "level.1.size").reality == Reality::kReal);
  CHECK(comparison.cautions.empty());
  // Alone a guess has no verdict, whatever it says of itself.
  const BenchRatio guess = row(compare_single(memory(300), memory(600)).derived, "level.1.size");
  CHECK(guess.reality == Reality::kCannotTell);
  CHECK(guess.why == "it is a guess");
  a[1].device.driver_info = "Mesa 25.0.7";
  const BenchComparison unlike = compare_benches(a, b);
  REQUIRE(unlike.cautions.size() == 1);
  CHECK(unlike.cautions[0].find("runs of A are no repeats of each other: driver version") == 0);
  CHECK(compare_benches({}, b).series.empty());
}

TEST_CASE("points are compared that all runs have") {
  const BenchRun whole = run_of({curve(1)});
  BenchRun part = run_of({curve(1)});
  part.tests[0].series[0].points.erase(part.tests[0].series[0].points.begin());
  const std::vector<BenchRun> a{whole, part};
  const std::vector<BenchRun> b{whole};
  const BenchComparison comparison = compare_benches(a, b);
  REQUIRE(comparison.series.size() == 1);
  CHECK(comparison.series[0].points == 3);
  CHECK(comparison.series[0].ratio == doctest::Approx(1));
  // A run without the series does not count.
  const std::vector<BenchRun> with_other{whole, run_of({rates(1)})};
  CHECK(compare_benches(with_other, b).series.front().points == 4);
}
