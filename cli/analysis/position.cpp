#include "cli/analysis/position.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "cli/analysis/position_curves.h"

namespace gputrace::analysis {
namespace {

/// Squared distance over the number of units from which on a stretch is unlike the calibration's
/// workloads: widened up to the second, no answer beyond.
constexpr double kUnlike = 2.5;
constexpr double kFitsNowhere = 16;
/// A unit is left out when the rest is nearer by this factor.
constexpr double kOddUnit = 2;
/// Of the active time in which a stage of pixel output has work: from here on pixels decide what
/// the memory side does. They write at any intensity: in the queueing model a fill with hundreds of
/// FMA a pixel keeps EA busy for 95 % of the time (docs/methodology.md), as a stream does.
constexpr double kPixelWork = 0.3;
/// Below it a note says that the position is that of the active time.
constexpr double kMostlyActive = 0.9;

/// Places [first, last] on the curve.
struct Span {
  std::size_t first = 0;
  std::size_t last = 0;
};

/// An interval that touches a flat end holds all of it.
Span with_flat_ends(const BusyCurves& curves, Span span) {
  if (span.first <= curves.flat_until()) {
    span = {0, std::max(span.last, curves.flat_until())};
  }
  if (span.last >= curves.flat_from()) {
    span = {std::min(span.first, curves.flat_from()), curves.mean().octaves.size() - 1};
  }
  return span;
}

Span widened(const BusyCurves& curves, Span span, double octaves) {
  const auto& places = curves.mean().octaves;
  const double low = places[span.first] - octaves;
  const double high = places[span.last] + octaves;
  while (span.first > 0 && places[span.first] > low) {
    --span.first;
  }
  while (span.last + 1 < places.size() && places[span.last] < high) {
    ++span.last;
  }
  return span;
}

RecordedUnits without(const RecordedUnits& recorded, std::size_t i) {
  RecordedUnits rest = recorded;
  const auto at = static_cast<std::ptrdiff_t>(i);
  rest.index.erase(rest.index.begin() + at);
  rest.units.busy.erase(rest.units.busy.begin() + at);
  rest.units.variance.erase(rest.units.variance.begin() + at);
  return rest;
}

/// Leaves out units that alone do not fit, at most a third: they depend on something that the
/// calibration's workloads had in common.
Likelihoods fit_units(const BusyCurves& curves, RecordedUnits& recorded,
                      std::vector<std::string>& notes) {
  Likelihoods fitted = likelihoods(curves.mean(), recorded, curves.scatter());
  const std::size_t least = recorded.index.size() - recorded.index.size() / 3;
  while (fitted.distance > kUnlike && recorded.index.size() > least) {
    std::size_t odd = 0;
    Likelihoods best;
    for (std::size_t i = 0; i < recorded.index.size(); ++i) {
      Likelihoods fit = likelihoods(curves.mean(), without(recorded, i), curves.scatter());
      if (i == 0 || fit.distance < best.distance) {
        odd = i;
        best = std::move(fit);
      }
    }
    if (best.distance > fitted.distance / kOddUnit) {
      break;
    }
    notes.push_back(fmt::format("without {}, which alone is unlike the calibration",
                                curves.known().units[recorded.index[odd]].name));
    recorded = without(recorded, odd);
    fitted = std::move(best);
  }
  return fitted;
}

bool writes_pixels(std::span<const BusyUnit> units, double active) {
  return std::any_of(units.begin(), units.end(), [active](const BusyUnit& unit) {
    const bool output = unit.key.name == "CB_BUSY" || unit.key.name == "DB_BUSY";
    return output && unit.busy > kPixelWork * active;
  });
}

}  // namespace

struct PositionModel::Curves {
  std::optional<BusyCurves> of_active;
  BusyCurves plain;
};

std::optional<PositionModel> PositionModel::make(const Calibration& calibration) {
  const auto ridge = ridge_of(calibration);
  if (!ridge) {
    return std::nullopt;
  }
  const auto curves_of = [&](bool of_active) -> std::optional<BusyCurves> {
    auto known = known_points(calibration, *ridge, of_active);
    return known ? BusyCurves::make(std::move(*known)) : std::nullopt;
  };
  auto plain = curves_of(false);
  if (!plain) {
    return std::nullopt;
  }
  PositionModel model;
  model.ridge_ = *ridge;
  model.curves_ = std::make_shared<const Curves>(Curves{curves_of(true), std::move(*plain)});
  return model;
}

double PositionModel::scatter() const {
  const auto& of_active = curves_->of_active;
  return (of_active ? *of_active : curves_->plain).scatter().busy;
}

std::optional<Position> PositionModel::place(std::span<const BusyUnit> units,
                                             const CalibrationFit& fit) const {
  if (fit.use == CalibrationUse::kRefused) {
    return std::nullopt;
  }
  const auto& of_active = curves_->of_active;
  const BusyCurves& curves = of_active && has_active(units) ? *of_active : curves_->plain;
  RecordedUnits recorded = recorded_units(units, curves.known());
  if (recorded.index.empty()) {
    return std::nullopt;
  }
  Position position;
  const Likelihoods fitted = fit_units(curves, recorded, position.notes);
  if (!(fitted.distance <= kFitsNowhere)) {
    return std::nullopt;
  }
  const std::vector<double>& likelihood = fitted.log_likelihood;
  const auto best = static_cast<std::size_t>(
      std::max_element(likelihood.begin(), likelihood.end()) - likelihood.begin());
  double threshold = curves.threshold();
  if (fitted.distance > kUnlike) {
    threshold *= fitted.distance;
    position.notes.emplace_back("unlike the workloads of the calibration: widened");
  }
  Span span{best, best};
  for (std::size_t i = 0; i < likelihood.size(); ++i) {
    if (likelihood[best] - likelihood[i] <= threshold) {
      span.first = std::min(span.first, i);
      span.last = std::max(span.last, i);
    }
  }
  span = with_flat_ends(curves, widened(curves, span, fit.widen_octaves));
  const auto& octaves = curves.mean().octaves;
  for (const OffRoof& workload : curves.known().off_roof) {
    const bool below = !workload.octave || *workload.octave < octaves[span.first];
    if (below && distance(workload.units, recorded, curves.scatter()) <= kUnlike) {
      while (span.first > 0 && (!workload.octave || octaves[span.first] > *workload.octave)) {
        --span.first;
      }
      span = with_flat_ends(curves, span);
      position.notes.push_back(
          fmt::format("like {} as well, which does not reach the roof: the intensity may be lower",
                      workload.name));
    }
  }
  if (writes_pixels(units, recorded.active.value_or(1)) && span.last + 1 < octaves.size()) {
    span.last = octaves.size() - 1;
    position.notes.emplace_back(
        "pixels are written at any intensity, and the curve is of compute kernels: no upper end");
  }
  if (span.first > 0) {
    const double of_ridge = std::exp2(octaves[span.first]);
    position.of_ridge.lower = of_ridge;
    position.intensity.lower = of_ridge * ridge_ * fit.ridge_ratio;
  }
  if (span.last + 1 < octaves.size()) {
    const double of_ridge = std::exp2(octaves[span.last]);
    position.of_ridge.upper = of_ridge;
    position.intensity.upper = of_ridge * ridge_ * fit.ridge_ratio;
  }
  if (!position.of_ridge.lower && !position.of_ridge.upper) {
    position.notes.emplace_back("the busy fractions suit every intensity");
  }
  if (fit.use == CalibrationUse::kScaled || fit.widen_octaves > 0) {
    position.notes.push_back(fit.why);
  }
  if (!curves.is_scatter_measured()) {
    position.notes.push_back(fmt::format(
        "{} of workload in the calibration: too few to measure how workloads scatter, so widened",
        curves.known().families.size() == 1
            ? "one kind"
            : fmt::format("{} kinds", curves.known().families.size())));
  }
  if (curves.known().of_active && recorded.active.value_or(1) < kMostlyActive) {
    position.notes.push_back(fmt::format("of the {:.0f} % of the time in which the GPU was active",
                                         100 * recorded.active.value_or(1)));
  }
  return position;
}

}  // namespace gputrace::analysis
