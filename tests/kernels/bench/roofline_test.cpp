#include "kernels/bench/roofline.h"

#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>

#include "tests/kernels/bench/model_runner.h"

namespace gputrace {
namespace {

using analysis::TestResult;
using analysis::TestStatus;
using test::ModelRunner;

bench::TestContext context_of(ModelRunner& runner) {
  bench::TestContext context{.runner = runner, .options = {}, .quick = false};
  context.options.clock = &runner.clock;
  return context;
}

const TestResult& find(const std::vector<TestResult>& tests, std::string_view id) {
  const auto found = std::ranges::find(tests, id, &TestResult::id);
  REQUIRE_MESSAGE(found != tests.end(), std::string(id));
  return *found;
}

std::optional<double> derived(const std::vector<TestResult>& tests, std::string_view what) {
  for (const TestResult& test : tests) {
    const auto found = std::ranges::find(test.derived, what, &analysis::DerivedValue::what);
    if (found != test.derived.end()) {
      CHECK(found->lower.has_value());
      CHECK(found->upper.has_value());
      return found->value;
    }
  }
  return std::nullopt;
}

bool contains(const std::string& text, std::string_view part) {
  return text.find(part) != std::string::npos;
}

TEST_CASE("the ceilings of a device are found") {
  ModelRunner runner;
  auto context = context_of(runner);
  const auto tests = bench::run_roofline(context, {});
  CHECK(derived(tests, "peak.fp32").value_or(0) == doctest::Approx(4000).epsilon(0.01));
  CHECK(derived(tests, "peak.fp32.wave32").value_or(0) == doctest::Approx(4000).epsilon(0.01));
  CHECK(derived(tests, "peak.fp32.wave64").value_or(0) == doctest::Approx(4000).epsilon(0.01));
  CHECK(derived(tests, "peak.fp16").value_or(0) == doctest::Approx(8000).epsilon(0.01));
  for (const char* what : {"dram.read", "dram.write", "dram.copy", "dram.triad"}) {
    CHECK(derived(tests, what).value_or(0) == doctest::Approx(70).epsilon(0.01));
  }
  CHECK(derived(tests, "level.1").value_or(0) == doctest::Approx(2000).epsilon(0.01));
  CHECK(derived(tests, "level.2").value_or(0) == doctest::Approx(500).epsilon(0.01));
  CHECK(derived(tests, "level.1.size") == 65536.0);
  CHECK(derived(tests, "level.2.size") == 2097152.0);
  CHECK_FALSE(derived(tests, "level.3").has_value());
  for (const TestResult& test : tests) {
    CAPTURE(test.id);
    if (test.id == "roofline.additions") {
      CHECK(test.series.front().points.size() == 5);
      CHECK(test.result == analysis::Proof::kPassed);
    } else if (test.status == TestStatus::kOk) {
      CHECK(test.result == analysis::Proof::kPassed);
      CHECK(test.isa == analysis::Proof::kNotDone);
      CHECK(test.rate == analysis::Proof::kPassed);
    }
  }
}

TEST_CASE("the sweep follows the roof, with half steps around its ridge") {
  ModelRunner runner;
  auto context = context_of(runner);
  const auto tests = bench::run_roofline(context, {});
  const auto& sweep = find(tests, "roofline.sweep");
  REQUIRE(sweep.series.size() == 1);
  const auto& points = sweep.series.front().points;
  CHECK(points.front().x == 0.25);
  CHECK(points.back().x == 512);
  const double ridge = 4000.0 / 70;
  std::size_t half_steps = 0;
  for (std::size_t i = 0; i < points.size(); ++i) {
    CHECK(points[i].median.value_or(0) ==
          doctest::Approx(std::min(70 * points[i].x, 4000.0)).epsilon(0.02));
    if (i > 0) {
      CHECK(points[i].x > points[i - 1].x);
      if (points[i].x < points[i - 1].x * 1.9) {
        ++half_steps;
        CHECK(points[i].x > ridge / 3);
        CHECK(points[i].x < ridge * 3);
      }
    }
  }
  CHECK(half_steps >= 4);
}

TEST_CASE("a type that the device lacks is skipped by its name") {
  ModelRunner runner;
  auto context = context_of(runner);
  const auto tests = bench::run_roofline(context, {});
  const auto& fp64 = find(tests, "roofline.peak.fp64");
  CHECK(fp64.status == TestStatus::kSkipped);
  CHECK(contains(fp64.why, "fp64"));
  CHECK_FALSE(derived(tests, "peak.fp64").has_value());
}

TEST_CASE("a kernel that runs faster than additions can is suspect, and no ceiling comes of it") {
  ModelRunner runner;
  runner.folded = {"peak.fp16.wave32"};
  auto context = context_of(runner);
  const auto tests = bench::run_roofline(context, {});
  const auto& fp16 = find(tests, "roofline.peak.fp16");
  CHECK(fp16.status == TestStatus::kSuspect);
  CHECK(fp16.rate == analysis::Proof::kFailed);
  CHECK(contains(fp16.series.front().points.front().why, "additions"));
  CHECK(fp16.series.front().points.front().median.has_value());
  CHECK_FALSE(derived(tests, "peak.fp16.wave32").has_value());
  CHECK(derived(tests, "peak.fp32").has_value());
}

TEST_CASE("additions that were disturbed are measured again before anything is suspected") {
  ModelRunner runner;
  runner.slow_runs = {"additions.fp32", 160};
  auto context = context_of(runner);
  const auto tests = bench::run_roofline(context, {});
  CHECK(find(tests, "roofline.peak.fp32").status == TestStatus::kOk);
  CHECK(find(tests, "roofline.peak.fp32").rate == analysis::Proof::kPassed);
}

TEST_CASE("without additions to compare with no rate is proven, and a test says why") {
  ModelRunner runner;
  runner.wrong = {"additions.fp32.wave32", "additions.fp32.wave64"};
  auto context = context_of(runner);
  const auto tests = bench::run_roofline(context, {});
  CHECK(find(tests, "roofline.additions").status == TestStatus::kFailed);
  CHECK(find(tests, "roofline.peak.fp32").rate == analysis::Proof::kNotDone);
  CHECK(find(tests, "roofline.peak.fp32").status == TestStatus::kOk);
}

TEST_CASE("a wrong result fails its test and leaves the others") {
  ModelRunner runner;
  runner.wrong = {"bandwidth.copy.dram"};
  auto context = context_of(runner);
  const auto tests = bench::run_roofline(context, {});
  const auto& bandwidth = find(tests, "roofline.bandwidth");
  CHECK(bandwidth.status == TestStatus::kFailed);
  CHECK(bandwidth.result == analysis::Proof::kFailed);
  CHECK(contains(bandwidth.why, "the CPU has 2"));
  CHECK_FALSE(derived(tests, "dram.copy").has_value());
  CHECK(find(tests, "roofline.sweep").status == TestStatus::kOk);
}

TEST_CASE("after a lost device the parts that follow are measured on one opened again") {
  ModelRunner runner;
  runner.deadly = {"bandwidth.write.dram"};
  auto context = context_of(runner);
  const auto tests = bench::run_roofline(context, {});
  CHECK(runner.reopened == 1);
  const auto& bandwidth = find(tests, "roofline.bandwidth");
  CHECK(bandwidth.status == TestStatus::kFailed);
  CHECK(contains(bandwidth.why, "DEVICE_LOST"));
  CHECK(find(tests, "roofline.peak.fp32").status == TestStatus::kOk);
  CHECK(find(tests, "roofline.sweep").status == TestStatus::kOk);
}

TEST_CASE("with little memory the sizes are smaller, and the points say so") {
  ModelRunner runner;
  runner.memory_left = 100.0 * (1U << 20U);
  auto context = context_of(runner);
  const auto tests = bench::run_roofline(context, {});
  const auto& bandwidth = find(tests, "roofline.bandwidth");
  CHECK(bandwidth.status == TestStatus::kOk);
  for (const auto& series : bandwidth.series) {
    CHECK(contains(series.points.front().why, "too little memory"));
    CHECK(series.points.front().x <= 64.0 * (1U << 20U));
  }
  CHECK(derived(tests, "dram.copy").value_or(0) == doctest::Approx(70).epsilon(0.01));
  // A working set cannot be smaller than it is: that point is skipped.
  CHECK(find(tests, "roofline.levels").series.front().points.back().status == TestStatus::kSkipped);
}

TEST_CASE("Ctrl-C keeps what was measured and leaves out the rest") {
  ModelRunner runner;
  auto context = context_of(runner);
  std::size_t done = 0;
  context.options.progress = [&](std::size_t now, std::size_t, double) { done = now; };
  context.options.cancelled = [&] { return done >= 14; };
  const auto tests = bench::run_roofline(context, {});
  REQUIRE_FALSE(tests.empty());
  std::size_t points = 0;
  for (const TestResult& test : tests) {
    CHECK(test.id != "roofline.sweep");
    for (const auto& series : test.series) {
      points += series.points.size();
    }
  }
  CHECK(points >= 10);
  CHECK(derived(tests, "peak.fp32").has_value());
}

TEST_CASE("progress counts all points of a roofline, and comes to its end") {
  ModelRunner runner;
  auto context = context_of(runner);
  std::size_t last = 0;
  std::size_t last_of = 0;
  context.options.progress = [&](std::size_t done, std::size_t of, double left_s) {
    CHECK(done > last);
    CHECK(of >= done);
    CHECK(left_s >= 0);
    last = done;
    last_of = of;
  };
  (void)bench::run_roofline(context, {});
  CHECK(last == last_of);
  CHECK(last > 40);
}

TEST_CASE("for a power sweep the peak and the copy are measured alone") {
  ModelRunner runner;
  auto context = context_of(runner);
  const auto tests = bench::run_roofline(context, {.ceilings_only = true});
  REQUIRE(tests.size() == 3);
  CHECK(derived(tests, "peak.fp32").has_value());
  CHECK(derived(tests, "dram.copy").has_value());
  CHECK_FALSE(derived(tests, "dram.read").has_value());
}

TEST_CASE("the article's shapes are shown by both counts") {
  ModelRunner runner;
  auto context = context_of(runner);
  const auto tests = bench::run_roofline(context, {.article = true});
  const auto& four = find(tests, "roofline.article.chains4");
  REQUIRE(four.series.size() == 2);
  REQUIRE(four.series[0].points.size() == four.series[1].points.size());
  for (std::size_t i = 0; i < four.series[0].points.size(); ++i) {
    // The chains are added up at the end, which the article does not count.
    CHECK(four.series[0].points[i].median.value_or(0) >
          3.99 * four.series[1].points[i].median.value_or(0));
  }
  CHECK(four.series[0].points.back().median.value_or(0) ==
        doctest::Approx(4 * four.series[1].points.back().median.value_or(0)).epsilon(0.01));
  // The label of its last row, N = 512.
  CHECK(four.series[1].points.back().x == 128);
  const auto& one = find(tests, "roofline.article.chains1");
  CHECK(one.series[0].points.back().median.value_or(0) ==
        doctest::Approx(one.series[1].points.back().median.value_or(0)));
}

}  // namespace
}  // namespace gputrace
