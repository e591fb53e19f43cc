#include "cli/analysis/bench_spread.h"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>
#include <numeric>

#include "cli/analysis/student.h"

namespace gputrace::analysis {
namespace {

/// From the median to p5 or p95 of a normal distribution, in standard deviations.
constexpr double kTail = 1.6449;
/// Standard error of the median of n normal values: sqrt(pi / 2) s / sqrt(n).
constexpr double kMedianError = 1.2533;
constexpr double kNormal95 = 1.95996;
constexpr double kLeastError = 0.001;
constexpr std::uint32_t kFewestRuns = 3;
/// Of single benches. Ratios of 130 series of the same code on a busy machine, in terms of their
/// own errors: half below 1, 95 % below 5, as of 2 to 3 degrees of freedom.
constexpr double kDegreesOfOne = 3;

std::optional<double> clock_of(const BenchPoint& point) {
  const double before = point.clock_before_mhz.value_or(0);
  const double after = point.clock_after_mhz.value_or(0);
  if (before > 0 && after > 0) {
    return std::log((before + after) / 2);
  }
  const double known = std::max(before, after);
  return known > 0 ? std::optional(std::log(known)) : std::nullopt;
}

/// Abramowitz and Stegun, Handbook of Mathematical Functions, 6.3.5, 6.3.18; x > 0.
double digamma(double x) {
  double sum = 0;
  while (x < 6) {
    sum -= 1 / x;
    x += 1;
  }
  const double y = 1 / (x * x);
  return sum + std::log(x) - 0.5 / x - y * (1.0 / 12 - y * (1.0 / 120 - y / 252));
}

/// 6.4.6, 6.4.12 there.
double trigamma(double x) {
  double sum = 0;
  while (x < 6) {
    sum += 1 / (x * x);
    x += 1;
  }
  const double y = 1 / (x * x);
  return sum + 1 / x + y / 2 + y / x * (1.0 / 6 - y * (1.0 / 30 - y / 42));
}

/// The function falls from infinity to 0.
double inverse_trigamma(double value) {
  double low = std::log(1e-4);
  double high = std::log(1e8);
  for (int step = 0; step < 60; ++step) {
    const double middle = (low + high) / 2;
    (trigamma(std::exp(middle)) > value ? low : high) = middle;
  }
  return std::exp((low + high) / 2);
}

double squares_of(std::span<const LogFigure> figures) {
  const double mean = mean_log(figures);
  return std::accumulate(figures.begin(), figures.end(), 0.0,
                         [mean](double sum, const LogFigure& figure) {
                           return sum + (figure.log - mean) * (figure.log - mean);
                         });
}

double degrees_of(const ComparedFigures& figures) {
  return static_cast<double>(figures.a.size() + figures.b.size()) - 2;
}

/// Between benches, of one thing.
double variance_of(const ComparedFigures& figures) {
  return std::max((squares_of(figures.a) + squares_of(figures.b)) / degrees_of(figures),
                  kLeastError * kLeastError);
}

/// What variances of a family have in common: a scaled inverse chi-squared distribution.
struct Prior {
  double variance = 0;
  double degrees = 0;
};

/// By the moments of their logarithms (Smyth 2004, 6.2).
Prior prior_of(std::span<const ComparedFigures> family) {
  std::vector<double> logs;
  double own_variance = 0;
  for (const ComparedFigures& figures : family) {
    const double degrees = degrees_of(figures);
    if (degrees > 0) {
      logs.push_back(std::log(variance_of(figures)) - digamma(degrees / 2) + std::log(degrees / 2));
      own_variance += trigamma(degrees / 2);
    }
  }
  if (logs.size() < 2) {
    return {};
  }
  const auto n = static_cast<double>(logs.size());
  const double mean = std::accumulate(logs.begin(), logs.end(), 0.0) / n;
  double scatter = 0;
  for (const double log : logs) {
    scatter += (log - mean) * (log - mean);
  }
  const double excess = scatter / (n - 1) - own_variance / n;
  if (!(excess > 0)) {
    return {std::exp(mean), std::numeric_limits<double>::infinity()};
  }
  const double half = inverse_trigamma(excess);
  return {std::exp(mean + digamma(half) - std::log(half)), 2 * half};
}

/// Of the mean of several benches, by what each says of itself.
std::optional<LogError> own_error(std::span<const LogFigure> figures) {
  LogError error;
  for (const LogFigure& figure : figures) {
    if (!figure.error) {
      return std::nullopt;
    }
    error.below = std::hypot(error.below, figure.error->below);
    error.above = std::hypot(error.above, figure.error->above);
  }
  const auto n = static_cast<double>(figures.size());
  return LogError{error.below / n, error.above / n};
}

std::optional<LogError> own_error(const ComparedFigures& figures) {
  const std::optional<LogError> a = own_error(figures.a);
  const std::optional<LogError> b = own_error(figures.b);
  if (!a || !b) {
    return std::nullopt;
  }
  return LogError{std::hypot(b->below, a->above), std::hypot(b->above, a->below)};
}

LogError larger_of(const LogError& one, const LogError& other) {
  return {std::max(one.below, other.below), std::max(one.above, other.above)};
}

RatioEstimate estimate(const ComparedFigures& figures, const std::optional<LogError>& error,
                       double degrees) {
  RatioEstimate ratio;
  ratio.log = mean_log(figures.b) - mean_log(figures.a);
  if (error) {
    const LogError known = larger_of(*error, {kLeastError, kLeastError});
    const double t = t_quantile(0.975, degrees);
    ratio.interval =
        Interval{std::exp(ratio.log - t * known.below), std::exp(ratio.log + t * known.above)};
    const double errors = std::abs(ratio.log) / (ratio.log > 0 ? known.below : known.above);
    ratio.p = 2 * (1 - t_cdf(errors, degrees));
  }
  return ratio;
}

RatioEstimate estimate_single(const ComparedFigures& figures) {
  std::optional<LogError> error = own_error(figures);
  if (error && figures.least) {
    error = larger_of(*error, *figures.least);
  }
  double degrees = kDegreesOfOne;
  for (const std::vector<LogFigure>* side : {&figures.a, &figures.b}) {
    for (const LogFigure& figure : *side) {
      degrees = std::min(degrees, figure.degrees);
    }
  }
  return estimate(figures, error, degrees);
}

RatioEstimate estimate_repeated(const ComparedFigures& figures, const Prior& prior) {
  const double own = degrees_of(figures);
  const double degrees = own + prior.degrees;
  if (!(degrees > 0)) {
    return estimate_single(figures);
  }
  const double scatter = own > 0 ? own * variance_of(figures) : 0;
  const double variance = std::isinf(prior.degrees)
                              ? prior.variance
                              : (prior.degrees * prior.variance + scatter) / degrees;
  const double error = std::sqrt(variance * (1 / static_cast<double>(figures.a.size()) +
                                             1 / static_cast<double>(figures.b.size())));
  const LogError between{error, error};
  return estimate(figures, larger_of(between, own_error(figures).value_or(between)), degrees);
}

}  // namespace

std::optional<LogFigure> figure_of(const BenchPoint& point) {
  const double median = point.median.value_or(0);
  const bool counts = point.status == TestStatus::kOk || point.status == TestStatus::kSuspect;
  if (!counts || !(median > 0) || !std::isfinite(median)) {
    return std::nullopt;
  }
  LogFigure figure;
  figure.log = std::log(median);
  figure.log_clock = clock_of(point);
  const double p5 = point.p5.value_or(0);
  const double p95 = point.p95.value_or(0);
  if (p5 > 0 && p5 <= median && median <= p95 && std::isfinite(p95) &&
      point.samples >= kFewestRuns) {
    const double n = point.samples;
    const double scale = (point.drifts ? 1 : kMedianError / std::sqrt(n)) / kTail;
    figure.error = LogError{std::log(median / p5) * scale, std::log(p95 / median) * scale};
    figure.degrees = n - 1;
  }
  return figure;
}

std::optional<LogFigure> figure_of(const DerivedValue& value) {
  if (!(value.value > 0) || !std::isfinite(value.value)) {
    return std::nullopt;
  }
  LogFigure figure;
  figure.log = std::log(value.value);
  const double lower = value.lower.value_or(0);
  const double upper = value.upper.value_or(0);
  if (lower > 0 && lower <= value.value && value.value <= upper && std::isfinite(upper)) {
    figure.error = LogError{std::log(value.value / lower) / kNormal95,
                            std::log(upper / value.value) / kNormal95};
  }
  return figure;
}

LogFigure mean_of(std::span<const LogFigure> points) {
  LogFigure mean;
  mean.log = mean_log(points);
  mean.error = own_error(points);
  double clocks = 0;
  bool clocks_known = true;
  for (const LogFigure& point : points) {
    mean.degrees = std::min(mean.degrees, point.degrees);
    clocks += point.log_clock.value_or(0);
    clocks_known = clocks_known && point.log_clock.has_value();
  }
  if (clocks_known) {
    mean.log_clock = clocks / static_cast<double>(points.size());
  }
  return mean;
}

double mean_log(std::span<const LogFigure> figures) {
  const double sum =
      std::accumulate(figures.begin(), figures.end(), 0.0,
                      [](double all, const LogFigure& figure) { return all + figure.log; });
  return sum / static_cast<double>(figures.size());
}

std::vector<RatioEstimate> estimate_ratios(std::span<const ComparedFigures> family) {
  const Prior prior = prior_of(family);
  const bool repeated = std::ranges::any_of(
      family, [](const ComparedFigures& figures) { return degrees_of(figures) > 0; });
  std::vector<RatioEstimate> ratios;
  ratios.reserve(family.size());
  for (const ComparedFigures& figures : family) {
    ratios.push_back(repeated ? estimate_repeated(figures, prior) : estimate_single(figures));
  }
  return ratios;
}

}  // namespace gputrace::analysis
