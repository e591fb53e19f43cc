// Where a stretch of a recording sits on the roofline, with the intervals that calibration and
// memory traffic allow: relative to the ridge first, arithmetic intensity second.
#pragma once

#include <memory>
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
/// the scatter of workloads about it, both along it and off it. Made once a calibration. Where the
/// GPU was active at times, the position is that of these times.
class PositionModel {
 public:
  /// Needs a family of at least four intensities over two octaves in which some unit moves. Points
  /// that are suspect, or without an intensity or units, are left out.
  [[nodiscard]] static std::optional<PositionModel> make(const Calibration& calibration);

  /// Absent when the calibration was refused, the busy fractions fit nowhere on the curve, or no
  /// unit of it was recorded. An interval that touches a flat end of the curve has no end there.
  [[nodiscard]] std::optional<Position> place(std::span<const BusyUnit> units,
                                              const CalibrationFit& fit) const;
  /// Standard deviation of a unit's busy fraction from the curve that the widths come from.
  [[nodiscard]] double scatter() const;

 private:
  struct Curves;

  std::shared_ptr<const Curves> curves_;
  double ridge_ = 0;
};

/// What memory traffic alone allows: bytes are known, and intensity <= peak / bytes. Absent without
/// bytes.
[[nodiscard]] std::optional<Position> place_by_bytes(const MemoryWitness& witness,
                                                     const std::optional<Ceiling>& compute,
                                                     const std::optional<Ceiling>& bandwidth);

/// Both together: bytes from the witness, intensity from the curve within the bound. Where they
/// contradict each other the bytes are followed, and a note says so.
[[nodiscard]] std::optional<Position> combine(const std::optional<Position>& by_curve,
                                              const std::optional<Position>& by_bytes);

}  // namespace gputrace::analysis
