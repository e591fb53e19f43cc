// Where a stretch of a recording sits on the roofline, with the intervals that calibration and
// memory traffic allow: relative to the ridge first, arithmetic intensity second.
#pragma once

#include <optional>
#include <span>
#include <string>
#include <vector>

#include "cli/analysis/calibration.h"

namespace gputrace::analysis {

/// One-sided where an end is absent. Both absent: not known.
struct Range {
  std::optional<double> lower;
  std::optional<double> upper;
};

enum class PositionBasis { kCalibration, kDramBytes };

struct Position {
  Range of_ridge;   ///< intensity over that of the ridge
  Range intensity;  ///< FLOP/B
  std::optional<Range> gbps = std::nullopt;
  std::optional<Range> gflops = std::nullopt;
  PositionBasis basis = PositionBasis::kCalibration;
  std::vector<std::string> notes;  ///< what limits it: "scaled by ...", "unlike any known workload"
};

/// How busy fractions go with intensity: a monotone curve a unit (pool adjacent violators), with
/// the scatter of workloads about it. Made once a calibration.
class PositionModel {
 public:
  /// Needs a family of points over intensity in which at least one unit moves.
  [[nodiscard]] static std::optional<PositionModel> make(const Calibration& calibration);

  /// Absent when the busy fractions fit nowhere on the curve, or no unit of it was recorded.
  [[nodiscard]] std::optional<Position> place(std::span<const BusyUnit> units,
                                              const CalibrationFit& fit) const;
  /// Spread of workloads about the curve, 0 to 1, that the widths come from.
  [[nodiscard]] double scatter() const { return scatter_; }

 private:
  struct Curve {
    UnitKey key;
    std::vector<double> busy;      ///< at `octaves_`
    std::vector<double> variance;  ///< of the calibration itself
  };

  std::vector<double> octaves_;  ///< log2 of intensity over the ridge's
  std::vector<Curve> curves_;
  double ridge_ = 0;
  double scatter_ = 0;
};

/// What memory traffic alone allows: bytes are known, and intensity <= peak / bytes.
[[nodiscard]] std::optional<Position> place_by_bytes(const MemoryWitness& witness,
                                                     const std::optional<Ceiling>& compute,
                                                     const std::optional<Ceiling>& bandwidth);

/// Both together: bytes from the witness, intensity from the curve within the bound.
[[nodiscard]] std::optional<Position> combine(const std::optional<Position>& by_curve,
                                              const std::optional<Position>& by_bytes);

}  // namespace gputrace::analysis
