// Busy fractions of a GPU over arithmetic intensity, from the families of known workloads, with
// the scatter of workloads about them.
#pragma once

#include <cstddef>
#include <optional>
#include <vector>

#include "cli/analysis/position_points.h"
#include "cli/analysis/position_scatter.h"

namespace gputrace::analysis {

/// Of one family: a monotone function a unit, and monotone cubics between its points (Fritsch,
/// Butland 1984).
class FamilyCurve {
 public:
  FamilyCurve(const KnownFamily& family, const std::vector<bool>& rising);
  /// Constant beyond the ends.
  [[nodiscard]] std::vector<double> at(double octave) const;
  /// From kLowestIntensity to kHighestIntensity.
  [[nodiscard]] MeanCurve sampled(double ridge) const;

 private:
  [[nodiscard]] double rise(const std::vector<double>& unit, std::size_t i) const;
  [[nodiscard]] double slope(const std::vector<double>& unit, std::size_t i) const;
  [[nodiscard]] double between(const std::vector<double>& unit, std::size_t i, double octave) const;

  std::vector<double> octaves_;
  std::vector<std::vector<double>> busy_;  ///< of each unit at each of octaves_
};

class BusyCurves {
 public:
  /// Absent without a family of at least four intensities over two octaves.
  [[nodiscard]] static std::optional<BusyCurves> make(KnownPoints known);

  [[nodiscard]] const KnownPoints& known() const { return known_; }
  /// From kLowestIntensity to kHighestIntensity.
  [[nodiscard]] const MeanCurve& mean() const { return mean_; }
  [[nodiscard]] const Scatter& scatter() const { return scatter_; }
  /// Log-likelihood ratio of a 95 % interval.
  [[nodiscard]] double threshold() const { return threshold_; }
  /// Up to this place, and from that one on, no unit moves beyond the scatter.
  [[nodiscard]] std::size_t flat_until() const { return flat_until_; }
  [[nodiscard]] std::size_t flat_from() const { return flat_from_; }
  /// False: too few families to see workloads scatter, so that it was taken to be wide.
  [[nodiscard]] bool is_scatter_measured() const;

 private:
  explicit BusyCurves(KnownPoints known) : known_(std::move(known)) {}
  /// `all`: the curves of the families `full`.
  void measure(const std::vector<std::size_t>& full, const std::vector<MeanCurve>& all,
               const std::vector<bool>& rising);
  [[nodiscard]] bool moves(const std::vector<double>& from, std::size_t to) const;
  void find_flat_ends();

  KnownPoints known_;
  MeanCurve mean_;
  Scatter scatter_;
  double threshold_ = 0;
  std::size_t flat_until_ = 0;
  std::size_t flat_from_ = 0;
};

}  // namespace gputrace::analysis
