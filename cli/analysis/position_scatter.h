// How far workloads lie from a curve of busy fractions over arithmetic intensity, and how likely a
// vector of busy fractions is at each place on it.
#pragma once

#include <cstddef>
#include <span>
#include <vector>

#include "cli/analysis/position_points.h"

namespace gputrace::analysis {

/// Places on a curve are this far apart, in octaves.
inline constexpr double kPlaceStep = 0.05;

/// A monotone curve of each unit, at places kPlaceStep apart.
struct MeanCurve {
  std::vector<double> octaves;
  std::vector<std::vector<double>> busy;  ///< at each place, of each unit
  std::vector<double> variance;  ///< at each place: all units may be off by so much together

  [[nodiscard]] std::size_t place_of(double octave) const;
};

/// A workload lies beside the curve (its workgroups are larger, it reads and writes in another
/// mix) by a shift along it, and off it by the rest.
struct Scatter {
  double busy = 0;         ///< standard deviation of a unit
  double correlation = 0;  ///< of two units
  double octaves = 0;      ///< standard deviation of the shift
  /// What units have in common counts for so many times its variance: few families tell little of
  /// it.
  double common_scale = 1;
};

struct Likelihoods {
  std::vector<double> log_likelihood;  ///< at each place
  double distance = 0;  ///< of the nearest: squared over the number of units, about 1 where it fits
};
[[nodiscard]] Likelihoods likelihoods(const MeanCurve& curve, const RecordedUnits& recorded,
                                      const Scatter& scatter);
/// Squared distance over the number of units from busy fractions of all units.
[[nodiscard]] double distance(const BusyVector& from, const RecordedUnits& recorded,
                              const Scatter& scatter);

/// A known workload and the curve that was made without it.
struct HeldOut {
  const MeanCurve* curve = nullptr;
  RecordedUnits recorded;
  double octave = 0;
};
/// The scatter under which the known workloads are the most likely where they are.
[[nodiscard]] Scatter measure_scatter(std::span<const HeldOut> workloads);
/// Log-likelihood ratio that `share` of the workloads stay within at their true places.
[[nodiscard]] double ratio_that_holds(std::span<const HeldOut> workloads, const Scatter& scatter,
                                      double share);

}  // namespace gputrace::analysis
