#include "cli/analysis/position_scatter.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>

namespace gputrace::analysis {
namespace {

/// What is tried: nothing is known better than to half a point.
constexpr std::array<double, 11> kBusy{0.005, 0.007, 0.010, 0.014, 0.020, 0.028,
                                       0.040, 0.056, 0.080, 0.112, 0.160};
constexpr std::array<double, 3> kCorrelation{0, 0.5, 0.9};
constexpr std::array<double, 9> kOctaves{0, 0.1, 0.2, 0.3, 0.45, 0.65, 0.9, 1.2, 1.6};
/// A shift must make the workloads more likely by this, or there is none.
constexpr double kCostOfShift = 1.92;
/// Places farther off than this many standard deviations of the shift do not count.
constexpr double kFarthestShift = 4;

struct Normal {
  double distance = 0;  ///< squared, Mahalanobis
  double log_determinant = 0;
};

/// `shared` is what all units have in common, `own` what each has besides its variance of sampling:
/// by the formula of Sherman and Morrison.
Normal normal(const std::vector<double>& from, const RecordedUnits& recorded, double own,
              double shared) {
  double inverse = 0;
  double sum = 0;
  Normal result;
  for (std::size_t i = 0; i < recorded.index.size(); ++i) {
    const double variance = own + recorded.units.variance[i];
    const double deviation = recorded.units.busy[i] - from[recorded.index[i]];
    inverse += 1 / variance;
    sum += deviation / variance;
    result.distance += deviation * deviation / variance;
    result.log_determinant += std::log(variance);
  }
  result.distance -= shared * sum * sum / (1 + shared * inverse);
  result.log_determinant += std::log(1 + shared * inverse);
  return result;
}

double shared_of(const Scatter& scatter) {
  return scatter.busy * scatter.busy * scatter.correlation;
}
double own_of(const Scatter& scatter) {
  return scatter.busy * scatter.busy - shared_of(scatter);
}

std::vector<double> without_shift(const MeanCurve& curve, const RecordedUnits& recorded,
                                  const Scatter& scatter, Likelihoods& result) {
  std::vector<double> log_likelihood;
  log_likelihood.reserve(curve.octaves.size());
  double nearest = std::numeric_limits<double>::infinity();
  for (std::size_t i = 0; i < curve.octaves.size(); ++i) {
    const Normal at =
        normal(curve.busy[i], recorded, own_of(scatter), shared_of(scatter) + curve.variance[i]);
    log_likelihood.push_back(-(at.distance + at.log_determinant) / 2);
    if (at.distance < nearest) {
      nearest = at.distance;
      result.nearest = i;
    }
  }
  result.distance = nearest / static_cast<double>(recorded.index.size());
  return log_likelihood;
}

/// Relative likelihood of each place, at most 1, and the logarithm of what it is relative to.
struct Relative {
  std::vector<double> likelihood;
  double log_scale = 0;
};

Relative relative(const std::vector<double>& log_likelihood) {
  Relative result;
  result.log_scale = *std::max_element(log_likelihood.begin(), log_likelihood.end());
  for (const double value : log_likelihood) {
    result.likelihood.push_back(std::exp(value - result.log_scale));
  }
  return result;
}

/// The likelihood of a place is the mean over the shifts that a workload there can have.
double shifted(const Relative& places, std::size_t at, double shift_octaves) {
  constexpr double kTiny = 1e-300;
  const auto last = static_cast<std::ptrdiff_t>(places.likelihood.size()) - 1;
  const auto reach = static_cast<std::ptrdiff_t>(kFarthestShift * shift_octaves / kPlaceStep);
  const auto middle = static_cast<std::ptrdiff_t>(at);
  double sum = 0;
  double weights = 0;
  for (std::ptrdiff_t i = std::max<std::ptrdiff_t>(0, middle - reach);
       i <= std::min(last, middle + reach); ++i) {
    const double z =
        shift_octaves > 0 ? static_cast<double>(i - middle) * kPlaceStep / shift_octaves : 0;
    const double weight = std::exp(-z * z / 2);
    weights += weight;
    sum += weight * places.likelihood[static_cast<std::size_t>(i)];
  }
  return places.log_scale + std::log(sum / weights + kTiny);
}

}  // namespace

std::size_t MeanCurve::place_of(double octave) const {
  const double place = std::round((octave - octaves.front()) / kPlaceStep);
  return static_cast<std::size_t>(std::clamp(place, 0.0, static_cast<double>(octaves.size() - 1)));
}

Likelihoods likelihoods(const MeanCurve& curve, const RecordedUnits& recorded,
                        const Scatter& scatter) {
  Likelihoods result;
  const Relative places = relative(without_shift(curve, recorded, scatter, result));
  for (std::size_t i = 0; i < curve.octaves.size(); ++i) {
    result.log_likelihood.push_back(shifted(places, i, scatter.octaves));
  }
  return result;
}

double distance(const BusyVector& from, const RecordedUnits& recorded, const Scatter& scatter) {
  return normal(from.busy, recorded, own_of(scatter), shared_of(scatter)).distance /
         static_cast<double>(recorded.index.size());
}

Scatter measure_scatter(std::span<const HeldOut> workloads) {
  Scatter best;
  double most = -std::numeric_limits<double>::infinity();
  Likelihoods unused;
  for (const double busy : kBusy) {
    for (const double correlation : kCorrelation) {
      std::array<double, kOctaves.size()> sums{};
      for (const HeldOut& workload : workloads) {
        const Relative places = relative(
            without_shift(*workload.curve, workload.recorded,
                          {.busy = busy, .correlation = correlation, .octaves = 0}, unused));
        for (std::size_t i = 0; i < kOctaves.size(); ++i) {
          sums.at(i) += shifted(places, workload.curve->place_of(workload.octave), kOctaves.at(i));
        }
      }
      for (std::size_t i = 0; i < kOctaves.size(); ++i) {
        const double sum = sums.at(i) - (kOctaves.at(i) > 0 ? kCostOfShift : 0);
        if (sum > most) {
          most = sum;
          best = {.busy = busy, .correlation = correlation, .octaves = kOctaves.at(i)};
        }
      }
    }
  }
  return best;
}

double ratio_that_holds(std::span<const HeldOut> workloads, const Scatter& scatter, double share) {
  std::vector<double> ratios;
  for (const HeldOut& workload : workloads) {
    const auto fit = likelihoods(*workload.curve, workload.recorded, scatter).log_likelihood;
    ratios.push_back(*std::max_element(fit.begin(), fit.end()) -
                     fit[workload.curve->place_of(workload.octave)]);
  }
  if (ratios.empty()) {
    return 0;
  }
  const auto count = static_cast<double>(ratios.size());
  const auto rank = static_cast<std::ptrdiff_t>(std::ceil(share * count)) - 1;
  std::nth_element(ratios.begin(), ratios.begin() + rank, ratios.end());
  return ratios[static_cast<std::size_t>(rank)];
}

}  // namespace gputrace::analysis
