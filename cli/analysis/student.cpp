#include "cli/analysis/student.h"

#include <cmath>
#include <limits>

#include "daemon/base/result.h"

namespace gputrace::analysis {
namespace {

/// Beyond this the normal distribution differs by less than 1e-7.
constexpr double kManyDegrees = 1e7;

double kept_from_zero(double value) {
  constexpr double kTiny = 1e-300;
  return std::abs(value) < kTiny ? kTiny : value;
}

/// Continued fraction of the incomplete beta function (Abramowitz and Stegun, 26.5.8), evaluated
/// from the front (Lentz 1976). Converges fast for x < (a + 1) / (a + b + 2).
double beta_fraction(double x, double a, double b) {
  constexpr int kMaxTerms = 10'000;
  constexpr double kEnough = 1e-15;
  double c = 1;
  double d = 1 / kept_from_zero(1 - (a + b) * x / (a + 1));
  double value = d;
  for (int m = 1; m < kMaxTerms; ++m) {
    const double even = m * (b - m) * x / ((a + 2 * m - 1) * (a + 2 * m));
    d = 1 / kept_from_zero(1 + even * d);
    c = kept_from_zero(1 + even / c);
    value *= d * c;
    const double odd = -(a + m) * (a + b + m) * x / ((a + 2 * m) * (a + 2 * m + 1));
    d = 1 / kept_from_zero(1 + odd * d);
    c = kept_from_zero(1 + odd / c);
    value *= d * c;
    if (std::abs(d * c - 1) < kEnough) {
      break;
    }
  }
  return value;
}

/// Regularised incomplete beta function I_x(a, b); y = 1 - x, which the caller knows more exactly.
double incomplete_beta(double x, double y, double a, double b) {
  if (x <= 0 || y <= 0) {
    return x <= 0 ? 0 : 1;
  }
  const double front = std::exp(std::lgamma(a + b) - std::lgamma(a) - std::lgamma(b) +
                                a * std::log(x) + b * std::log(y));
  return x < (a + 1) / (a + b + 2) ? front * beta_fraction(x, a, b) / a
                                   : 1 - front * beta_fraction(y, b, a) / b;
}

}  // namespace

double t_cdf(double t, double degrees) {
  if (degrees > kManyDegrees) {
    return 0.5 * std::erfc(-t / std::sqrt(2.0));
  }
  const double sum = degrees + t * t;
  const double tail = 0.5 * incomplete_beta(degrees / sum, t * t / sum, degrees / 2, 0.5);
  return t > 0 ? 1 - tail : tail;
}

double t_quantile(double share, double degrees) {
  double low = -1;
  double high = 1;
  while (t_cdf(low, degrees) > share) {
    low *= 2;
  }
  while (t_cdf(high, degrees) < share) {
    high *= 2;
  }
  constexpr double kRelative = 1e-9;
  while (high - low > kRelative * (std::abs(low) + std::abs(high)) &&
         high - low > std::numeric_limits<double>::min()) {
    const double middle = low + (high - low) / 2;
    (t_cdf(middle, degrees) < share ? low : high) = middle;
  }
  return low + (high - low) / 2;
}

double t_quantile_975(double degrees) {
  GPUTRACE_CHECK(degrees >= 10);
  constexpr double kZ = 1.959963984540054;  // of the normal distribution
  const double z = kZ;
  const double z2 = z * z;
  const double g1 = z * (z2 + 1) / 4;
  const double g2 = z * ((5 * z2 + 16) * z2 + 3) / 96;
  const double g3 = z * (((3 * z2 + 19) * z2 + 17) * z2 - 15) / 384;
  const double g4 = z * ((((79 * z2 + 776) * z2 + 1482) * z2 - 1920) * z2 - 945) / 92160;
  return z + (g1 + (g2 + (g3 + g4 / degrees) / degrees) / degrees) / degrees;
}

}  // namespace gputrace::analysis
