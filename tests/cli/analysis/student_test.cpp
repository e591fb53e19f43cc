#include "cli/analysis/student.h"

#include <doctest/doctest.h>

#include <cmath>
#include <initializer_list>
#include <limits>

using gputrace::analysis::t_cdf;
using gputrace::analysis::t_quantile;
using gputrace::analysis::t_quantile_975;

namespace {

constexpr double kInfinite = std::numeric_limits<double>::infinity();

}  // namespace

TEST_CASE("quantiles are those of the printed tables") {
  // Abramowitz and Stegun, table 26.10.
  CHECK(t_quantile(0.975, 1) == doctest::Approx(12.706).epsilon(1e-4));
  CHECK(t_quantile(0.975, 2) == doctest::Approx(4.303).epsilon(1e-4));
  CHECK(t_quantile(0.975, 5) == doctest::Approx(2.571).epsilon(2e-4));
  CHECK(t_quantile(0.995, 4) == doctest::Approx(4.604).epsilon(1e-4));
  CHECK(t_quantile(0.95, 30) == doctest::Approx(1.697).epsilon(3e-4));
  CHECK(t_quantile(0.975, kInfinite) == doctest::Approx(1.959964).epsilon(1e-6));
}

TEST_CASE("one degree of freedom is the Cauchy distribution") {
  CHECK(t_cdf(1, 1) == doctest::Approx(0.75).epsilon(1e-9));
  CHECK(t_cdf(-1, 1) == doctest::Approx(0.25).epsilon(1e-9));
  CHECK(t_cdf(0, 1) == doctest::Approx(0.5).epsilon(1e-9));
}

TEST_CASE("two degrees of freedom have a closed form") {
  for (const double t : {-30.0, -2.0, -0.1, 0.3, 4.0, 100.0}) {
    CAPTURE(t);
    CHECK(t_cdf(t, 2) == doctest::Approx(0.5 + t / (2 * std::sqrt(2 + t * t))).epsilon(1e-9));
  }
}

TEST_CASE("a quantile is where the distribution reaches its share") {
  for (const double degrees : {1.0, 1.7, 2.0, 9.3, 400.0, 1e6, kInfinite}) {
    for (const double share : {1e-6, 0.01, 0.4, 0.5, 0.9, 0.999999}) {
      CAPTURE(degrees);
      CAPTURE(share);
      CHECK(t_cdf(t_quantile(share, degrees), degrees) == doctest::Approx(share).epsilon(1e-6));
    }
  }
}

TEST_CASE("fractions of a degree lie between their neighbours") {
  CHECK(t_quantile(0.975, 2.5) < t_quantile(0.975, 2));
  CHECK(t_quantile(0.975, 2.5) > t_quantile(0.975, 3));
}

TEST_CASE("the series for ten and more degrees agrees with printed tables") {
  CHECK(t_quantile_975(10) == doctest::Approx(2.228139).epsilon(1e-5));
  CHECK(t_quantile_975(12) == doctest::Approx(2.178813).epsilon(1e-5));
  CHECK(t_quantile_975(20) == doctest::Approx(2.085963).epsilon(1e-5));
  CHECK(t_quantile_975(29) == doctest::Approx(2.045230).epsilon(1e-5));
  CHECK(t_quantile_975(60) == doctest::Approx(2.000298).epsilon(1e-5));
  CHECK(t_quantile_975(1e9) == doctest::Approx(1.959964).epsilon(1e-5));
}

TEST_CASE("the series agrees with the quantile") {
  for (const double degrees : {10.0, 10.5, 17.0, 29.0, 1000.0, kInfinite}) {
    CHECK(t_quantile_975(degrees) == doctest::Approx(t_quantile(0.975, degrees)).epsilon(1e-5));
  }
}
