#include "cli/analysis/statistics.h"

#include <algorithm>
#include <cmath>

#include "cli/analysis/student.h"

namespace gputrace::analysis {
namespace {

constexpr double kZ975 = 1.959963984540054;  // normal quantile
constexpr std::uint64_t kMinSamplesForBatches = 3000;
constexpr std::uint64_t kMinChangesForBatches = 100;

/// Weak prior on the normalised rate of change: 0.2, with the weight of 4 pairs of samples.
constexpr double kPriorWeight = 4;
constexpr double kPriorChanges = 0.8;

/// Wilson's score interval (J. Am. Stat. Assoc. 22, 1927) with an effective number of samples.
Interval wilson(double p, double n_effective, double z) {
  const double z2 = z * z;
  const double centre = (p + z2 / (2 * n_effective)) / (1 + z2 / n_effective);
  const double half = z / (1 + z2 / n_effective) *
                      std::sqrt(p * (1 - p) / n_effective + z2 / (4 * n_effective * n_effective));
  return {std::clamp(centre - half, 0.0, p), std::clamp(centre + half, p, 1.0)};
}

double shrunk_variance(const Counts& total) {
  const double p =
      (static_cast<double>(total.busy) + 0.5) / (static_cast<double>(total.samples) + 1);
  return p * (1 - p);
}

/// Share of neighbouring samples that differ, relative to independent samples: 1 = independent,
/// towards 0 = strongly correlated.
double normalised_change_rate(const Counts& total) {
  const double pairs = 2 * static_cast<double>(total.samples) * shrunk_variance(total);
  return std::min(1.0,
                  (static_cast<double>(total.changes) + kPriorChanges) / (pairs + kPriorWeight));
}

/// How many times the variance of a batch's mean exceeds that of independent samples (method of
/// batch means). With b equal batches that is n s^2 / (b p q), s the standard deviation of their
/// means; unequal ones are weighted by their samples. Absent with too few cells with samples.
std::optional<double> variance_inflation_of_batches(const Counts& total,
                                                    std::span<const Cell> cells) {
  const auto filled = static_cast<std::size_t>(
      std::count_if(cells.begin(), cells.end(), [](const Cell& cell) { return cell.samples > 0; }));
  if (filled < kBatches) {
    return std::nullopt;
  }
  const double p = static_cast<double>(total.busy) / static_cast<double>(total.samples);
  double squares = 0;
  std::size_t seen = 0;
  Counts batch;
  for (const Cell& cell : cells) {
    if (cell.samples == 0) {
      continue;
    }
    batch.samples += cell.samples;
    batch.busy += cell.busy;
    const std::size_t before = seen * kBatches / filled;
    ++seen;
    if (seen * kBatches / filled != before) {
      const double deviation =
          static_cast<double>(batch.busy) / static_cast<double>(batch.samples) - p;
      squares += static_cast<double>(batch.samples) * deviation * deviation;
      batch = {};
    }
  }
  return std::max(1.0, squares / (static_cast<double>(kBatches - 1) * p * (1 - p)));
}

/// For a two-state process with relaxation time tau (in periods), c such that the variance of the
/// mean of stratified samples is c T / n^2: 1/2 for tau << 1, 1/6 for tau >> 1.
double stratified_coefficient(double change_rate) {
  if (change_rate < 1e-3) {  // tau > 1000: the series, where the closed form cancels
    return (1 + change_rate / 3) / 6;
  }
  // change_rate = 1 - a(tau)^2 with a = tau (1 - exp(-1/tau)), which rises with tau.
  const auto mean_correlation = [](double tau) { return -tau * std::expm1(-1 / tau); };
  double low = 1e-4;
  double high = 1e4;
  for (int step = 0; step < 60; ++step) {
    const double middle = std::sqrt(low * high);
    const double a = mean_correlation(middle);
    (1 - a * a > change_rate ? low : high) = middle;
  }
  const double tau = std::sqrt(low * high);
  const double rho0 = 2 * tau * (1 - mean_correlation(tau));
  return (1 - rho0) / (2 * change_rate);
}

}  // namespace

std::optional<Interval> ci95(const Counts& total, std::span<const Cell> cells) {
  if (total.samples < kMinSamplesForInterval) {
    return std::nullopt;
  }
  const double n = static_cast<double>(total.samples);
  const double p = static_cast<double>(total.busy) / n;
  const bool varies = total.busy > 0 && total.busy < total.samples;
  if (varies && total.samples >= kMinSamplesForBatches && total.changes >= kMinChangesForBatches) {
    if (const auto inflation = variance_inflation_of_batches(total, cells)) {
      return wilson(p, n / *inflation, t_quantile_975(kBatches - 1));
    }
  }
  const double omega = normalised_change_rate(total);
  const double degrees = std::max(2.0, static_cast<double>(total.changes) / 2) + 8;
  return wilson(p, n / ((2 - omega) / omega), t_quantile_975(degrees));
}

std::optional<Interval> ci95_run(const Counts& total) {
  if (total.samples < kMinSamplesForInterval) {
    return std::nullopt;
  }
  const double n = static_cast<double>(total.samples);
  // Never (or always) seen busy: the product of the idle chances of all periods is at most
  // exp(-n p), which is 5 % at p = 3/n. No assumption about the signal.
  if (total.busy == 0) {
    return Interval{0, std::min(1.0, 3 / n)};
  }
  if (total.busy == total.samples) {
    return Interval{std::max(0.0, 1 - 3 / n), 1};
  }
  const double c = stratified_coefficient(normalised_change_rate(total));
  const double n_effective =
      std::max(n, shrunk_variance(total) * n * n / (c * (static_cast<double>(total.changes) + 1)));
  return wilson(static_cast<double>(total.busy) / n, n_effective, kZ975);
}

}  // namespace gputrace::analysis
