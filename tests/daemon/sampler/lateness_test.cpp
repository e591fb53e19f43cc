#include "daemon/sampler/lateness.h"

#include <doctest/doctest.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <random>
#include <vector>

#include "daemon/sampler/sample_block.h"

using gputrace::sampler::kLatenessBuckets;
using gputrace::sampler::lateness_bucket;
using gputrace::sampler::lateness_bucket_start_us;
using gputrace::sampler::lateness_quantile_us;

namespace {
using Histogram = std::array<std::uint32_t, kLatenessBuckets>;
/// -1 for an unknown one, which fits no expectation.
double quantile(const Histogram& histogram, double q) {
  return lateness_quantile_us(histogram, q).value_or(-1);
}
}  // namespace

TEST_CASE("lateness buckets are quarter octaves of a microsecond") {
  CHECK(lateness_bucket(-5) == 0);
  CHECK(lateness_bucket(0) == 0);
  CHECK(lateness_bucket(999) == 0);
  CHECK(lateness_bucket(1000) == 1);
  CHECK(lateness_bucket(1189) == 1);  // 2^(1/4) = 1.18921
  CHECK(lateness_bucket(1190) == 2);
  CHECK(lateness_bucket(2000) == 5);
  CHECK(lateness_bucket(1'024'000) == 41);
  CHECK(lateness_bucket(INT64_MAX) == kLatenessBuckets - 1);
  for (std::size_t i = 1; i < kLatenessBuckets; ++i) {
    const double start_ns = lateness_bucket_start_us(i) * 1000;
    CHECK(lateness_bucket(static_cast<std::int64_t>(std::ceil(start_ns))) == i);
    CHECK(lateness_bucket(static_cast<std::int64_t>(std::ceil(start_ns)) - 1) == i - 1);
  }
}

TEST_CASE("quantiles of an empty histogram are unknown") {
  const Histogram none{};
  CHECK_FALSE(lateness_quantile_us(none, 0.5));
}

TEST_CASE("quantiles are within a quarter octave of the exact ones") {
  std::mt19937_64 random(7);
  std::lognormal_distribution<double> lateness(std::log(26'000.0), 0.8);
  std::vector<std::int64_t> exact;
  Histogram histogram{};
  for (int i = 0; i < 20'000; ++i) {
    exact.push_back(static_cast<std::int64_t>(lateness(random)));
    ++histogram[lateness_bucket(exact.back())];
  }
  std::sort(exact.begin(), exact.end());
  for (const double q : {0.01, 0.5, 0.9, 0.99}) {
    CAPTURE(q);
    const double truth =
        static_cast<double>(exact[static_cast<std::size_t>(q * double(exact.size()))]) / 1000;
    CHECK(quantile(histogram, q) / truth == doctest::Approx(1).epsilon(0.19));
  }
}

TEST_CASE("quantiles stay inside the buckets that have reads") {
  Histogram histogram{};
  histogram[5] = 10;  // [2, 2.38) us
  CHECK(quantile(histogram, 0) == doctest::Approx(2));
  CHECK(quantile(histogram, 1) == doctest::Approx(std::exp2(1.25)));
  CHECK(quantile(histogram, 5) == doctest::Approx(std::exp2(1.25)));
  histogram[0] = 30;
  CHECK(quantile(histogram, 0.5) == doctest::Approx(2.0 / 3));
  histogram.back() = 1000;
  CHECK(quantile(histogram, 0.99) ==
        doctest::Approx(lateness_bucket_start_us(kLatenessBuckets - 1)));
}
