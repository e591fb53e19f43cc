#include "cli/analysis/readings.h"

#include <doctest/doctest.h>

#include <cmath>
#include <limits>
#include <random>
#include <vector>

using namespace gputrace::analysis;  // NOLINT(google-build-using-namespace)

namespace {

constexpr std::int64_t kMs = 1'000'000;
constexpr std::int64_t kSecond = 1000 * kMs;
const TimeRange kAll{0, 3600 * kSecond};

ReadingRun reading(std::int64_t at_ms, double value) {
  return {at_ms * kMs, at_ms * kMs, 1, value};
}

GaugeSums gauge_of(const std::vector<ReadingRun>& runs, const TimeRange& within = kAll) {
  GaugeSums sums(within);
  for (const ReadingRun& run : runs) {
    sums.add(run);
  }
  sums.finish();
  return sums;
}

CounterSums counter_of(const std::vector<ReadingRun>& runs) {
  CounterSums sums;
  for (const ReadingRun& run : runs) {
    sums.add(run);
  }
  return sums;
}

}  // namespace

TEST_CASE("at even distances the mean by time is the mean of the readings") {
  const GaugeSums sums =
      gauge_of({reading(100, 10), reading(200, 10), reading(300, 40), reading(400, 20)});
  CHECK(sums.readings() == 4);
  CHECK(sums.mean().value_or(0) == doctest::Approx(20));
  CHECK(sums.smallest() == 10);
  CHECK(sums.largest() == 40);
  CHECK(sums.covered_s() == doctest::Approx(0.4));
}

TEST_CASE("a run counts as its readings, and speaks for all of its time") {
  const GaugeSums one_by_one = gauge_of({reading(0, 5), reading(100, 5), reading(200, 5),
                                         reading(300, 11), reading(400, 11), reading(500, 2)},
                                        {-kSecond, kSecond});
  const GaugeSums runs = gauge_of(
      {{0, 200 * kMs, 3, 5}, {300 * kMs, 400 * kMs, 2, 11}, reading(500, 2)}, {-kSecond, kSecond});
  CHECK(runs.readings() == one_by_one.readings());
  CHECK(runs.mean().value_or(0) == doctest::Approx(one_by_one.mean().value_or(-1)));
  CHECK(runs.covered_s() == doctest::Approx(0.6));
  CHECK(one_by_one.covered_s() == doctest::Approx(0.6));
}

TEST_CASE("the mean of a constant is that constant, whatever the sums are rounded to") {
  std::vector<ReadingRun> runs;
  for (std::int64_t i = 0; i < 997; ++i) {
    const std::int64_t at_ns = i * 100'000'007 + i % 7 * 1'000'003;
    runs.push_back({at_ns, at_ns, 1, 0.1});
  }
  CHECK(gauge_of(runs).mean() == 0.1);
}

TEST_CASE("nothing speaks for the time of a read that failed") {
  // 100 ms apart; those at 500 and 600 are missing.
  const std::vector<ReadingRun> runs{{0, 400 * kMs, 5, 10}, {700 * kMs, 1100 * kMs, 5, 30}};
  const GaugeSums sums = gauge_of(runs, {-kSecond, 2 * kSecond});
  CHECK(sums.covered_s() == doctest::Approx(1.0));
  CHECK(sums.mean().value_or(0) == doctest::Approx(20));
  const std::vector<TimeRange> ranges = spoken_for(runs, {-kSecond, 2 * kSecond});
  REQUIRE(ranges.size() == 2);
  CHECK(ranges[0].end_ns == 450 * kMs);
  CHECK(ranges[1].start_ns == 650 * kMs);
}

TEST_CASE("a source that is read less often from some time on speaks for all of it") {
  std::vector<ReadingRun> runs;
  for (std::int64_t at = 0; at < 1000; at += 100) {
    runs.push_back(reading(at, 10));
  }
  for (std::int64_t at = 1900; at < 6000; at += 1000) {
    runs.push_back(reading(at, 20));
  }
  const GaugeSums sums = gauge_of(runs, {0, 7 * kSecond});
  CHECK(sums.covered_s() == doctest::Approx(6.4));  // from 0 to half a second after the last
  // 10 for 0.95 s and half of the way from 0.9 to 1.9 s, 20 after that.
  CHECK(sums.mean().value_or(0) == doctest::Approx((1.4 * 10 + 5.0 * 20) / 6.4));
}

TEST_CASE("readings that come late by chance leave no gap") {
  std::mt19937_64 random(7);
  std::vector<ReadingRun> runs;
  runs.reserve(1000);
  for (std::int64_t i = 0; i < 1000; ++i) {
    runs.push_back(
        reading(100 * i + static_cast<std::int64_t>(random() % 30), static_cast<double>(i % 7)));
  }
  CHECK(gauge_of(runs).covered_s() == doctest::Approx(100).epsilon(0.002));
}

TEST_CASE("bursts are covered, the rests between them are not") {
  std::vector<ReadingRun> runs;
  for (std::int64_t burst = 0; burst < 6; ++burst) {
    for (std::int64_t at = 0; at < 1000; at += 100) {
      runs.push_back(reading(10'000 * burst + at,
                             static_cast<double>(burst) + 0.001 * static_cast<double>(at)));
    }
  }
  CHECK(gauge_of(runs, {-kSecond, 60 * kSecond}).covered_s() == doctest::Approx(6));
}

TEST_CASE("one reading has a value and speaks for no time; none has none") {
  const GaugeSums one = gauge_of({reading(100, 42)});
  CHECK(one.mean() == 42);
  CHECK(one.covered_s() == 0);
  CHECK_FALSE(gauge_of({}).mean());
  CHECK_FALSE(gauge_of({}).smallest());
  CHECK(gauge_of({reading(9000, 1), reading(18000, 3)}).mean().value_or(0) == doctest::Approx(2));
}

TEST_CASE("time outside of what is shown is not covered") {
  const GaugeSums sums =
      gauge_of({reading(1000, 10), reading(1100, 10), reading(1200, 30)}, {1000 * kMs, 1200 * kMs});
  CHECK(sums.covered_s() == doctest::Approx(0.2));
  CHECK(sums.mean().value_or(0) == doctest::Approx(15));
}

TEST_CASE("series of one sensor add up") {
  GaugeSums sums = gauge_of({reading(100, 10), reading(200, 10)});
  sums.merge(gauge_of({reading(5000, 30), reading(5100, 30)}));
  sums.merge(gauge_of({}));
  CHECK(sums.readings() == 4);
  CHECK(sums.mean().value_or(0) == doctest::Approx(20));
  CHECK(sums.smallest() == 10);
  CHECK(sums.largest() == 30);
  CHECK(sums.covered_s() == doctest::Approx(0.4));
  GaugeSums from_nothing = gauge_of({});
  from_nothing.merge(sums);
  CHECK(from_nothing.smallest() == 10);
}

TEST_CASE("a counter is worth its difference, over the time between first and last reading") {
  const CounterSums sums = counter_of({reading(0, 1000), reading(100, 1010), reading(600, 1060)});
  CHECK(sums.total() == 60);
  CHECK(sums.covered_s() == doctest::Approx(0.6));
  CHECK(sums.readings() == 3);
  CHECK(sums.resets() == 0);
}

TEST_CASE("a counter that steps back began anew: the step is unknown, never negative") {
  const CounterSums sums =
      counter_of({reading(0, 1000), reading(100, 1010), reading(200, 3), reading(300, 13)});
  CHECK(sums.total() == 20);
  CHECK(sums.covered_s() == doctest::Approx(0.2));
  CHECK(sums.resets() == 1);
}

TEST_CASE("a counter with one reading has no difference; one that stands still has 0") {
  CHECK_FALSE(counter_of({reading(0, 1000)}).total());
  CHECK_FALSE(counter_of({}).total());
  CHECK(counter_of({{0, kSecond, 11, 7}}).total() == 0);
  CHECK(counter_of({{0, kSecond, 11, 7}}).covered_s() == doctest::Approx(1));
}

TEST_CASE("counters that were opened twice add up without what lies between") {
  CounterSums sums = counter_of({reading(0, 0), reading(100, 10)});
  sums.merge(counter_of({reading(5000, 500), reading(5100, 510)}));
  CHECK(sums.total() == 20);
  CHECK(sums.covered_s() == doctest::Approx(0.2));
}

TEST_CASE("bits that were ever and always set") {
  BitSums sums;
  CHECK(sums.readings == 0);
  sums.add({0, kSecond, 11, 6});
  sums.add(reading(1100, 12));
  CHECK(sums.readings == 12);
  CHECK(sums.ever == 14);
  CHECK(sums.always == 4);
  sums.add(reading(1200, -1));
  sums.add(reading(1200, std::nan("")));
  CHECK(sums.readings == 12);
  CHECK(bits_of(4294967295.0) == 0xffffffffU);
  CHECK_FALSE(bits_of(4294967296.0));
  CHECK_FALSE(bits_of(std::numeric_limits<double>::infinity()));
}

TEST_CASE("a series is asked at moments that move forward") {
  const std::vector<ReadingRun> runs{{0, 400 * kMs, 5, 10}, {700 * kMs, 1100 * kMs, 5, 30}};
  const std::vector<TimeRange> ranges = spoken_for(runs, kAll);
  SeriesCursor cursor(runs, ranges);
  CHECK_FALSE(cursor.at(-1));
  CHECK(cursor.at(0) == 10);
  CHECK(cursor.at(449 * kMs) == 10);
  CHECK_FALSE(cursor.at(500 * kMs));
  CHECK(cursor.at(650 * kMs) == 30);
  CHECK_FALSE(cursor.at(kSecond * 100));
  cursor.rewind();
  CHECK(cursor.at(0) == 10);
}

TEST_CASE("quantiles are values that occurred") {
  std::vector<double> values;
  CHECK_FALSE(quantile(values, 0.5));
  for (int i = 100; i > 0; --i) {
    values.push_back(i);
  }
  CHECK(quantile(values, 0.5) == 50);
  CHECK(quantile(values, 0.99) == 99);
  CHECK(quantile(values, 0) == 1);
  CHECK(quantile(values, 1) == 100);
}
