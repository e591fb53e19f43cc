#include "cli/analysis/comparison.h"

#include <doctest/doctest.h>

#include <cmath>
#include <random>
#include <string>
#include <utility>
#include <vector>

using gputrace::analysis::Bottleneck;
using gputrace::analysis::compare;
using gputrace::analysis::ComparedRun;
using gputrace::analysis::Comparison;
using gputrace::analysis::Difference;
using gputrace::analysis::Interval;
using gputrace::analysis::Reality;

namespace {

ComparedRun with_unit(double busy, std::optional<double> half = std::nullopt) {
  ComparedRun run;
  run.units.push_back({{"GRBM_STATUS2", "EA_BUSY"}, {.value = busy}});
  if (half) {
    run.units.back().busy.interval = Interval{busy - *half, busy + *half};
  }
  return run;
}

ComparedRun with_power(double watts) {
  ComparedRun run;
  run.quantities.push_back({"package_power", "hwmon", "W", {.value = watts}});
  return run;
}

const Difference& only(const std::vector<Difference>& rows) {
  REQUIRE(rows.size() == 1);
  return rows.front();
}

double lower(const Difference& row) {
  REQUIRE(row.interval.has_value());
  return row.interval.value_or(Interval{}).lower;
}
double upper(const Difference& row) {
  REQUIRE(row.interval.has_value());
  return row.interval.value_or(Interval{}).upper;
}

}  // namespace

TEST_CASE("two runs: their intervals are put together") {
  const Comparison comparison =
      compare(std::vector{with_unit(0.93, 0.01)}, std::vector{with_unit(0.89, 0.01)});
  const Difference& row = only(comparison.units);
  CHECK(row.difference.value_or(0) == doctest::Approx(-4));
  CHECK(lower(row) == doctest::Approx(-4 - std::sqrt(2.0)));
  CHECK(upper(row) == doctest::Approx(-4 + std::sqrt(2.0)));
  CHECK(row.reality == Reality::kReal);
  CHECK_FALSE(comparison.from_repeats);
}

TEST_CASE("a difference inside its interval is noise") {
  const Comparison comparison =
      compare(std::vector{with_unit(0.93, 0.03)}, std::vector{with_unit(0.91, 0.03)});
  CHECK(only(comparison.units).reality == Reality::kWithinNoise);
}

TEST_CASE("intervals need not be symmetric: the side towards zero decides") {
  ComparedRun a = with_unit(0.50);
  a.units[0].busy.interval = Interval{0.30, 0.51};
  ComparedRun b = with_unit(0.55);
  b.units[0].busy.interval = Interval{0.54, 0.80};
  const Comparison comparison = compare(std::vector{a}, std::vector{b});
  const Difference& row = only(comparison.units);
  CHECK(lower(row) == doctest::Approx(5 - std::sqrt(2.0)));
  CHECK(upper(row) == doctest::Approx(5 + std::hypot(25.0, 20.0)));
  CHECK(row.reality == Reality::kReal);
}

TEST_CASE("without an interval nothing can be told from one run each") {
  const Comparison comparison = compare(std::vector{with_power(30)}, std::vector{with_power(50)});
  const Difference& row = only(comparison.quantities);
  CHECK(row.difference.value_or(0) == doctest::Approx(20));
  CHECK_FALSE(row.interval.has_value());
  CHECK(row.reality == Reality::kCannotTell);
  CHECK(row.why.find("repeat") != std::string::npos);
}

TEST_CASE("repeats: Welch's interval, worked by hand") {
  // a: mean 31, s^2 1; b: mean 35, s^2 4; n 3 each. se^2 = 5/3, degrees (5/3)^2 / (1/18 + 16/18)
  // = 2.941, t = 3.219.
  const Comparison comparison =
      compare(std::vector{with_power(30), with_power(31), with_power(32)},
              std::vector{with_power(33), with_power(35), with_power(37)});
  const Difference& row = only(comparison.quantities);
  CHECK(comparison.from_repeats);
  CHECK(row.difference.value_or(0) == doctest::Approx(4));
  CHECK(upper(row) - lower(row) == doctest::Approx(2 * 3.219 * std::sqrt(5.0 / 3)).epsilon(2e-3));
  CHECK(row.reality == Reality::kWithinNoise);
}

TEST_CASE("repeats that agree by luck are not better known than each run is") {
  const Comparison comparison =
      compare(std::vector{with_unit(0.900, 0.02), with_unit(0.900, 0.02)},
              std::vector{with_unit(0.901, 0.02), with_unit(0.901, 0.02)});
  const Difference& row = only(comparison.units);
  CHECK(lower(row) < -1);
  CHECK(row.reality == Reality::kWithinNoise);
}

TEST_CASE("one run against repeats borrows their spread") {
  const Comparison comparison = compare(
      std::vector{with_power(30)}, std::vector{with_power(49), with_power(50), with_power(51)});
  const Difference& row = only(comparison.quantities);
  // t of 2 degrees, spread 1, of one run and of three: sqrt(1 + 1/3).
  CHECK(upper(row) - row.difference.value_or(0) ==
        doctest::Approx(4.3027 * std::sqrt(4.0 / 3)).epsilon(1e-3));
  CHECK(row.reality == Reality::kReal);
}

TEST_CASE("repeats that never differ: no difference is noise, any is real") {
  const std::vector<ComparedRun> idle{with_unit(0), with_unit(0)};
  CHECK(only(compare(idle, idle).units).reality == Reality::kWithinNoise);
  const std::vector<ComparedRun> always{with_unit(1), with_unit(1)};
  CHECK(only(compare(idle, always).units).reality == Reality::kReal);
}

TEST_CASE("what one side lacks is named and not taken for zero") {
  const Comparison comparison =
      compare(std::vector{with_unit(0.5, 0.01)}, std::vector{ComparedRun{}});
  const Difference& row = only(comparison.units);
  CHECK(row.a.value_or(0) == doctest::Approx(50));
  CHECK_FALSE(row.b.has_value());
  CHECK_FALSE(row.difference.has_value());
  CHECK(row.why == "not in B");
}

TEST_CASE("quantities of one name from two sources stay apart") {
  ComparedRun a = with_power(30);
  a.quantities.push_back({"package_power", "gpu_metrics", "W", {.value = 31}});
  CHECK(compare(std::vector{a}, std::vector{a}).quantities.size() == 2);
}

TEST_CASE("relative differences are of positive figures alone") {
  const std::vector<ComparedRun> none{with_power(0), with_power(0)};
  const std::vector<ComparedRun> some{with_power(10), with_power(11)};
  const std::vector<ComparedRun> more{with_power(20), with_power(22)};
  CHECK_FALSE(only(compare(none, some).quantities).relative.has_value());
  CHECK(only(compare(some, more).quantities).relative.value_or(0) == doctest::Approx(1));
}

TEST_CASE("a class that one run never had is 0 % of it, and absent without phases") {
  ComparedRun a;
  a.class_shares = {{Bottleneck::kMemory, 0.8}, {Bottleneck::kCpu, 0.2}};
  ComparedRun b;
  b.class_shares = {{Bottleneck::kMemory, 1.0}};
  const Comparison comparison = compare(std::vector{a}, std::vector{b});
  REQUIRE(comparison.classes.size() == 2);
  CHECK(comparison.classes[0].name == "cpu");
  CHECK(comparison.classes[0].difference.value_or(0) == doctest::Approx(-20));
  CHECK(comparison.classes[0].reality == Reality::kCannotTell);
  const Comparison missing = compare(std::vector{a}, std::vector{ComparedRun{}});
  CHECK_FALSE(missing.classes.at(0).b.has_value());
}

TEST_CASE("of many units without a difference hardly one run in twenty shows a real one") {
  constexpr int kRounds = 400;
  constexpr std::size_t kUnits = 30;
  std::mt19937_64 random(20261130);
  std::normal_distribution<double> noise(0, 1);
  const auto run = [&](double se, bool interval) {
    ComparedRun out;
    for (std::size_t i = 0; i < kUnits; ++i) {
      const double busy = 0.5 + se * noise(random);
      out.units.push_back({{"GRBM_STATUS", "U" + std::to_string(i)}, {.value = busy}});
      if (interval) {
        out.units.back().busy.interval = Interval{busy - 1.96 * se, busy + 1.96 * se};
      }
    }
    return out;
  };
  for (const std::size_t repeats : {std::size_t{1}, std::size_t{4}}) {
    int with_real = 0;
    int outside = 0;
    for (int round = 0; round < kRounds; ++round) {
      std::vector<ComparedRun> a;
      std::vector<ComparedRun> b;
      for (std::size_t i = 0; i < repeats; ++i) {
        a.push_back(run(0.01, repeats == 1));
        b.push_back(run(0.01, repeats == 1));
      }
      bool real = false;
      for (const Difference& row : compare(a, b).units) {
        real = real || row.reality == Reality::kReal;
        outside += lower(row) > 0 || upper(row) < 0 ? 1 : 0;
      }
      with_real += real ? 1 : 0;
    }
    CAPTURE(repeats);
    CHECK(with_real <= 35);  // 20 expected, sd 4.4
    CHECK(static_cast<double>(outside) / (kRounds * kUnits) < 0.06);
    CHECK(static_cast<double>(outside) / (kRounds * kUnits) > 0.03);
  }
}
