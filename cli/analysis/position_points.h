// Known workloads of a calibration as vectors of busy fractions over arithmetic intensity, and a
// recording's units in the same order: what positions are computed from.
#pragma once

#include <cstddef>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "cli/analysis/calibration.h"

namespace gputrace::analysis {

/// Busy fractions in the order of KnownPoints::units, and the variance of sampling them.
struct BusyVector {
  std::vector<double> busy;
  std::vector<double> variance;
};

/// `octave`: log2 of the intensity over that of the ridge, which is how positions are counted.
struct KnownPoint {
  double octave = 0;
  BusyVector units;
};

/// Points of one family and workgroup size, in order of intensity.
struct KnownFamily {
  std::string name;
  std::vector<KnownPoint> points;
};

/// A workload that does not reach the roof: one that waits for memory, or is held up elsewhere.
struct OffRoof {
  std::string name;
  std::optional<double> octave;
  BusyVector units;
};

struct KnownPoints {
  double ridge = 0;  ///< FLOP/B
  /// Of GUI_ACTIVE: a gap between dispatches then moves no unit.
  bool of_active = false;
  std::vector<UnitKey> units;  ///< those that every point has and that move over intensity
  std::vector<KnownFamily> families;
  std::vector<OffRoof> off_roof;
};

/// Intensities outside kLowestIntensity and kHighestIntensity count as these.
inline constexpr double kLowestIntensity = 0.25;
inline constexpr double kHighestIntensity = 512;

/// `of_active`: busy fractions of the time in which the GPU was active. Absent when no unit moves,
/// or GUI_ACTIVE is wanted and missing.
[[nodiscard]] std::optional<KnownPoints> known_points(const Calibration& calibration, double ridge,
                                                      bool of_active);

/// Those of the known units that were recorded: `index` into KnownPoints::units.
struct RecordedUnits {
  std::vector<std::size_t> index;
  BusyVector units;
  std::optional<double> active;  ///< GUI_ACTIVE, where it was recorded
};
[[nodiscard]] RecordedUnits recorded_units(std::span<const BusyUnit> units,
                                           const KnownPoints& known);
/// Whether GUI_ACTIVE was recorded and set often enough to divide by.
[[nodiscard]] bool has_active(std::span<const BusyUnit> units);

/// The monotone function nearest to `values` (Barlow et al. 1972: pool adjacent violators).
/// `weights` are positive.
[[nodiscard]] std::vector<double> monotone(std::span<const double> values,
                                           std::span<const double> weights, bool rising);

}  // namespace gputrace::analysis
