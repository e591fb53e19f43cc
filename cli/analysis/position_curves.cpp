#include "cli/analysis/position_curves.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <list>
#include <numeric>
#include <utility>

#include "cli/analysis/student.h"

namespace gputrace::analysis {
namespace {

/// Points of one family closer together are one.
constexpr double kSameOctave = 0.02;
constexpr std::size_t kLeastPoints = 4;
constexpr double kLeastOctaves = 2;
/// A family over less of the range than this share of the widest one is no part of the curve, only
/// of the scatter.
constexpr double kFullShare = 0.8;
constexpr std::size_t kLeastFamilies = 3;
/// Where too few families were measured: 5 points, and twice or half the intensity within 95 %.
/// About what workgroups from 64 to 1024 threads do to one sweep on the simulated GPU.
constexpr double kUnmeasuredBusy = 0.05;
constexpr double kUnmeasuredOctaves = 0.5;
/// Half the 95 % quantile of chi-square with one degree of freedom.
constexpr double kThreshold95 = 1.92;
constexpr double kShareHeld = 0.95;
constexpr double kQuantile = (1 + kShareHeld) / 2;
/// Families that seem to have nothing in common may still have a little.
constexpr double kLeastCorrelation = 0.01;
/// The units of three families tell more than the six degrees of their levels and shifts; on known
/// curves (bench_position) eight hold the share.
constexpr double kLeastDegrees = 8;
/// With four times the arithmetic to spare nothing that a busy bit shows can depend on intensity:
/// what seems to move there is another property of the workload.
constexpr double kNoDependence = -2;
constexpr std::size_t kNone = std::numeric_limits<std::size_t>::max();

double span_of(const KnownFamily& family) {
  return family.points.back().octave - family.points.front().octave;
}

std::vector<std::size_t> full_families(const std::vector<KnownFamily>& families) {
  double widest = 0;
  for (const KnownFamily& family : families) {
    if (family.points.size() >= kLeastPoints) {
      widest = std::max(widest, span_of(family));
    }
  }
  std::vector<std::size_t> full;
  for (std::size_t i = 0; i < families.size(); ++i) {
    if (families[i].points.size() >= kLeastPoints &&
        span_of(families[i]) >= std::max(kLeastOctaves, kFullShare * widest)) {
      full.push_back(i);
    }
  }
  return full;
}

std::vector<bool> directions(const std::vector<KnownFamily>& families,
                             const std::vector<std::size_t>& full, std::size_t units) {
  std::vector<double> rise(units, 0);
  for (const std::size_t index : full) {
    const auto& points = families[index].points;
    const std::size_t third = std::max<std::size_t>(1, points.size() / 3);
    for (std::size_t unit = 0; unit < units; ++unit) {
      for (std::size_t i = 0; i < third; ++i) {
        rise[unit] += points[points.size() - 1 - i].units.busy[unit] - points[i].units.busy[unit];
      }
    }
  }
  std::vector<bool> rising;
  rising.reserve(units);
  for (const double by : rise) {
    rising.push_back(by > 0);
  }
  return rising;
}

/// A scatter that few families told is less sure: Student's t, with two degrees for what each
/// tells, its level and its shift.
double t_of(std::size_t families) {
  return t_quantile(kQuantile, std::max(kLeastDegrees, 2 * static_cast<double>(families)));
}

/// Of what all units have in common each family is one number only, and one goes to their mean.
/// That widens where families are seen to differ in it, and hardly where they are not.
double common_scale_of(std::size_t families) {
  const double ratio = t_quantile(kQuantile, static_cast<double>(families) - 1) / t_of(families);
  return ratio * ratio;
}

std::vector<std::size_t> all_of(std::size_t units) {
  std::vector<std::size_t> index(units);
  std::iota(index.begin(), index.end(), std::size_t{0});
  return index;
}

}  // namespace

FamilyCurve::FamilyCurve(const KnownFamily& family, const std::vector<bool>& rising) {
  std::vector<double> weights;
  std::vector<std::vector<double>> means(rising.size());
  for (const KnownPoint& point : family.points) {
    if (octaves_.empty() || point.octave - octaves_.back() > kSameOctave) {
      octaves_.push_back(point.octave);
      weights.push_back(0);
      for (auto& unit : means) {
        unit.push_back(0);
      }
    }
    weights.back() += 1;
    for (std::size_t unit = 0; unit < rising.size(); ++unit) {
      double& mean = means[unit].back();
      mean += (point.units.busy[unit] - mean) / weights.back();
    }
  }
  busy_.reserve(rising.size());
  for (std::size_t unit = 0; unit < rising.size(); ++unit) {
    busy_.push_back(monotone(means[unit], weights, rising[unit]));
  }
}

std::vector<double> FamilyCurve::at(double octave) const {
  const auto above = std::upper_bound(octaves_.begin(), octaves_.end(), octave);
  std::vector<double> result;
  result.reserve(busy_.size());
  if (above == octaves_.begin() || above == octaves_.end()) {
    for (const auto& unit : busy_) {
      result.push_back(above == octaves_.begin() ? unit.front() : unit.back());
    }
    return result;
  }
  const auto i = static_cast<std::size_t>(above - octaves_.begin());
  for (const auto& unit : busy_) {
    result.push_back(between(unit, i, octave));
  }
  return result;
}

double FamilyCurve::rise(const std::vector<double>& unit, std::size_t i) const {
  return (unit[i] - unit[i - 1]) / (octaves_[i] - octaves_[i - 1]);
}

/// Harmonic mean of the rises on both sides: no point is overshot.
double FamilyCurve::slope(const std::vector<double>& unit, std::size_t i) const {
  if (i == 0 || i + 1 == unit.size()) {
    return rise(unit, std::max<std::size_t>(i, 1));
  }
  const double before = rise(unit, i);
  const double after = rise(unit, i + 1);
  return before * after > 0 ? 2 * before * after / (before + after) : 0;
}

double FamilyCurve::between(const std::vector<double>& unit, std::size_t i, double octave) const {
  const double step = octaves_[i] - octaves_[i - 1];
  const double t = (octave - octaves_[i - 1]) / step;
  const double u = 1 - t;
  return (1 + 2 * t) * u * u * unit[i - 1] + t * u * u * step * slope(unit, i - 1) +
         (1 + 2 * u) * t * t * unit[i] - t * t * u * step * slope(unit, i);
}

MeanCurve FamilyCurve::sampled(double ridge) const {
  const auto units = static_cast<double>(busy_.size());
  MeanCurve curve;
  const double lowest = std::log2(kLowestIntensity / ridge);
  const double highest = std::log2(kHighestIntensity / ridge);
  for (int i = 0; lowest + i * kPlaceStep <= highest + kPlaceStep / 2; ++i) {
    const double octave = lowest + i * kPlaceStep;
    curve.octaves.push_back(octave);
    curve.busy.push_back(at(octave));
    curve.variance.push_back(0);
    const auto above = std::upper_bound(octaves_.begin(), octaves_.end(), octave);
    if (above == octaves_.begin() || above == octaves_.end()) {
      continue;
    }
    // Between two points it may be off by half of what a straight line is: f'' h^2 / 8.
    const double from = *(above - 1);
    const double step = *above - from;
    const double share = (octave - from) / step;
    const auto before = at(from - step / 2);
    const auto middle = at(from + step / 2);
    const auto after = at(from + 3 * step / 2);
    for (std::size_t unit = 0; unit < busy_.size(); ++unit) {
      const double off = (before[unit] - 2 * middle[unit] + after[unit]) / 4 * share * (1 - share);
      curve.variance.back() += off * off / units;
    }
  }
  return curve;
}

namespace {

/// Of all but one.
MeanCurve mean_of(const std::vector<MeanCurve>& curves, std::size_t without) {
  MeanCurve mean;
  double count = 0;
  for (std::size_t i = 0; i < curves.size(); ++i) {
    if (i == without) {
      continue;
    }
    ++count;
    if (count == 1) {
      mean = curves[i];
      continue;
    }
    for (std::size_t place = 0; place < mean.octaves.size(); ++place) {
      mean.variance[place] += (curves[i].variance[place] - mean.variance[place]) / count;
      for (std::size_t unit = 0; unit < mean.busy[place].size(); ++unit) {
        double& busy = mean.busy[place][unit];
        busy += (curves[i].busy[place][unit] - busy) / count;
      }
    }
  }
  return mean;
}

}  // namespace

std::optional<BusyCurves> BusyCurves::make(KnownPoints known) {
  BusyCurves curves(std::move(known));
  const KnownPoints& points = curves.known_;
  const std::vector<std::size_t> full = full_families(points.families);
  if (full.empty()) {
    return std::nullopt;
  }
  const auto rising = directions(points.families, full, points.units.size());
  std::vector<MeanCurve> all;
  all.reserve(full.size());
  for (const std::size_t index : full) {
    all.push_back(FamilyCurve(points.families[index], rising).sampled(points.ridge));
  }
  curves.mean_ = mean_of(all, kNone);
  curves.measure(full, all, rising);
  curves.find_flat_ends();
  return curves;
}

void BusyCurves::measure(const std::vector<std::size_t>& full, const std::vector<MeanCurve>& all,
                         const std::vector<bool>& rising) {
  std::list<MeanCurve> curves;
  std::vector<HeldOut> held;
  for (std::size_t f = 0; f < known_.families.size(); ++f) {
    const KnownFamily& family = known_.families[f];
    const auto at = std::find(full.begin(), full.end(), f);
    const bool alone = full.size() == 1 && at != full.end();
    if (!alone) {
      const auto without = static_cast<std::size_t>(at - full.begin());
      curves.push_back(mean_of(all, at == full.end() ? kNone : without));
    }
    for (std::size_t i = 0; i < family.points.size(); ++i) {
      const KnownPoint& point = family.points[i];
      if (point.octave <= kNoDependence) {
        continue;
      }
      if (alone) {
        // What the only curve says of a point by its neighbours.
        if (i == 0 || i + 1 == family.points.size()) {
          continue;
        }
        KnownFamily rest = family;
        rest.points.erase(rest.points.begin() + static_cast<std::ptrdiff_t>(i));
        curves.push_back(FamilyCurve(rest, rising).sampled(known_.ridge));
      }
      held.push_back({.curve = &curves.back(),
                      .recorded = {.index = all_of(known_.units.size()),
                                   .units = point.units,
                                   .active = std::nullopt},
                      .octave = point.octave});
    }
  }
  scatter_ = measure_scatter(held);
  if (is_scatter_measured()) {
    const double t = t_of(known_.families.size());
    threshold_ = t * t / 2;
    scatter_.correlation = std::max(scatter_.correlation, kLeastCorrelation);
    scatter_.common_scale = common_scale_of(known_.families.size());
  } else {
    scatter_.busy = std::max(scatter_.busy, kUnmeasuredBusy);
    scatter_.octaves = std::max(scatter_.octaves, kUnmeasuredOctaves);
    threshold_ = kThreshold95;
  }
  threshold_ = std::max(threshold_, ratio_that_holds(held, scatter_, kShareHeld));
}

bool BusyCurves::is_scatter_measured() const {
  return known_.families.size() >= kLeastFamilies;
}

bool BusyCurves::moves(const std::vector<double>& from, std::size_t to) const {
  for (std::size_t unit = 0; unit < from.size(); ++unit) {
    if (std::abs(mean_.busy[to][unit] - from[unit]) > scatter_.busy) {
      return true;
    }
  }
  return false;
}

void BusyCurves::find_flat_ends() {
  const std::size_t last = mean_.octaves.size() - 1;
  std::vector<double> mean = mean_.busy.front();
  while (flat_until_ < last &&
         (mean_.octaves[flat_until_ + 1] <= kNoDependence || !moves(mean, flat_until_ + 1))) {
    ++flat_until_;
    for (std::size_t unit = 0; unit < mean.size(); ++unit) {
      mean[unit] +=
          (mean_.busy[flat_until_][unit] - mean[unit]) / static_cast<double>(flat_until_ + 1);
    }
  }
  flat_from_ = last;
  while (flat_from_ > 0 && !moves(mean_.busy[last], flat_from_ - 1)) {
    --flat_from_;
  }
}

}  // namespace gputrace::analysis
