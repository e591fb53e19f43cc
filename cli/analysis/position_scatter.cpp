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
constexpr std::array<double, 4> kCorrelation{0, 0.3, 0.6, 0.9};
constexpr std::array<double, 9> kOctaves{0, 0.1, 0.2, 0.3, 0.45, 0.65, 0.9, 1.2, 1.6};
/// A shift must make the workloads more likely by this, or there is none.
constexpr double kCostOfShift = 1.92;
/// Places farther off than this many standard deviations of the shift do not count.
constexpr double kFarthestShift = 4;

double own_of(const Scatter& scatter) {
  return scatter.busy * scatter.busy * (1 - scatter.correlation);
}

double shared_of(const Scatter& scatter) {
  return scatter.busy * scatter.busy * scatter.correlation * scatter.common_scale;
}

/// Normal deviations of recorded units that have a variance in common besides their own: by the
/// formula of Sherman and Morrison.
class Deviations {
 public:
  Deviations(const RecordedUnits& recorded, const Scatter& scatter) : recorded_(recorded) {
    const double own = own_of(scatter);
    for (const double sampling : recorded.units.variance) {
      inverse_.push_back(1 / (own + sampling));
      sum_ += inverse_.back();
      log_determinant_ -= std::log(inverse_.back());
    }
  }

  struct Normal {
    double distance = 0;  ///< squared, Mahalanobis
    double log_likelihood = 0;
  };
  [[nodiscard]] Normal from(const std::vector<double>& busy, double shared) const {
    Normal result;
    double sum = 0;
    for (std::size_t i = 0; i < inverse_.size(); ++i) {
      const double deviation = recorded_.units.busy[i] - busy[recorded_.index[i]];
      sum += deviation * inverse_[i];
      result.distance += deviation * deviation * inverse_[i];
    }
    const double scale = 1 + shared * sum_;
    result.distance -= shared * sum * sum / scale;
    result.log_likelihood = -(result.distance + log_determinant_ + std::log(scale)) / 2;
    return result;
  }

 private:
  const RecordedUnits& recorded_;
  std::vector<double> inverse_;  ///< of each unit's own variance
  double sum_ = 0;
  double log_determinant_ = 0;
};

std::vector<double> without_shift(const MeanCurve& curve, const RecordedUnits& recorded,
                                  const Scatter& scatter, Likelihoods& result) {
  const Deviations deviations(recorded, scatter);
  std::vector<double> log_likelihood;
  log_likelihood.reserve(curve.octaves.size());
  double nearest = std::numeric_limits<double>::infinity();
  for (std::size_t i = 0; i < curve.octaves.size(); ++i) {
    const auto at = deviations.from(curve.busy[i], shared_of(scatter) + curve.variance[i]);
    log_likelihood.push_back(at.log_likelihood);
    nearest = std::min(nearest, at.distance);
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

/// Weights of shifts by 0, 1, 2... places.
std::vector<double> shift_weights(double octaves) {
  std::vector<double> weights{1};
  const auto reach = static_cast<std::size_t>(kFarthestShift * octaves / kPlaceStep);
  for (std::size_t i = 1; i <= reach; ++i) {
    const double z = static_cast<double>(i) * kPlaceStep / octaves;
    weights.push_back(std::exp(-z * z / 2));
  }
  return weights;
}

/// The likelihood of a place is the mean over the shifts that a workload there can have.
double shifted(const Relative& places, std::size_t at, const std::vector<double>& weights) {
  constexpr double kTiny = 1e-300;
  const std::vector<double>& likelihood = places.likelihood;
  double sum = 0;
  double total = 0;
  for (std::size_t i = 0; i < weights.size(); ++i) {
    if (i <= at) {
      sum += weights[i] * likelihood[at - i];
      total += weights[i];
    }
    if (i > 0 && at + i < likelihood.size()) {
      sum += weights[i] * likelihood[at + i];
      total += weights[i];
    }
  }
  return places.log_scale + std::log(sum / total + kTiny);
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
  const std::vector<double> weights = shift_weights(scatter.octaves);
  for (std::size_t i = 0; i < curve.octaves.size(); ++i) {
    result.log_likelihood.push_back(shifted(places, i, weights));
  }
  return result;
}

double distance(const BusyVector& from, const RecordedUnits& recorded, const Scatter& scatter) {
  return Deviations(recorded, scatter).from(from.busy, shared_of(scatter)).distance /
         static_cast<double>(recorded.index.size());
}

Scatter measure_scatter(std::span<const HeldOut> workloads) {
  Scatter best;
  double most = -std::numeric_limits<double>::infinity();
  Likelihoods unused;
  std::array<std::vector<double>, kOctaves.size()> weights;
  std::transform(kOctaves.begin(), kOctaves.end(), weights.begin(), shift_weights);
  for (const double busy : kBusy) {
    for (const double correlation : kCorrelation) {
      std::array<double, kOctaves.size()> sums{};
      for (const HeldOut& workload : workloads) {
        const Relative places = relative(
            without_shift(*workload.curve, workload.recorded,
                          {.busy = busy, .correlation = correlation, .octaves = 0}, unused));
        for (std::size_t i = 0; i < kOctaves.size(); ++i) {
          sums.at(i) += shifted(places, workload.curve->place_of(workload.octave), weights.at(i));
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
