// What known workloads did to the busy bits of a GPU, and whether that speaks of a recording.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "cli/analysis/bottleneck.h"
#include "cli/analysis/roofline.h"

namespace gputrace::analysis {

/// On what and how something was measured or recorded. Absent = not known.
struct Conditions {
  std::string gpu;  ///< name
  std::optional<std::uint32_t> vendor_id = std::nullopt;
  std::optional<std::uint32_t> device_id = std::nullopt;
  std::optional<std::uint32_t> revision_id = std::nullopt;
  bool simulated = false;
  std::optional<std::string> driver = std::nullopt;  ///< "radv, Mesa 24.2.8"
  std::optional<double> clock_mhz = std::nullopt;    ///< mean under load
  std::optional<double> power_w = std::nullopt;      ///< package, under load
};

/// One workload of known work, with what the samples said while it ran.
struct CalibrationPoint {
  std::string workload;  ///< "sweep.n16"
  std::string family;    ///< "sweep": points of one family differ in intensity alone
  std::uint32_t group_threads = 0;
  Bottleneck truth = Bottleneck::kUnknown;  ///< what limits it, by how it is made and its rate
  std::optional<double> intensity = std::nullopt;  ///< FLOP per byte of DRAM
  std::optional<double> gbps = std::nullopt;       ///< of DRAM
  std::optional<double> gflops = std::nullopt;
  std::optional<double> clock_mhz = std::nullopt;
  std::optional<double> power_w = std::nullopt;
  std::vector<BusyUnit> units;
  bool suspect = false;  ///< a proof of it failed: never used
};

struct Calibration {
  std::string file;        ///< where it came from; names it in reports
  std::string started_at;  ///< RFC 3339, UTC
  Conditions conditions;
  std::optional<Ceiling> compute = std::nullopt;    ///< fp32
  std::optional<Ceiling> bandwidth = std::nullopt;  ///< DRAM, the mix of the sweep
  std::vector<CalibrationPoint> points;
};

/// FLOP/B where the two ceilings meet; absent without both.
[[nodiscard]] std::optional<double> ridge_of(const Calibration& calibration);

enum class CalibrationUse { kAsItIs, kScaled, kRefused };

/// Whether a calibration may speak of a recording. A fit test on busy bits cannot tell: a shift of
/// the whole curve fits as well. Only GPU, driver, clock and power can.
struct CalibrationFit {
  CalibrationUse use = CalibrationUse::kRefused;
  double ridge_ratio = 1;    ///< the recording's ridge over that of the calibration
  double widen_octaves = 0;  ///< to each side of an intensity
  std::optional<std::string> other_driver = std::nullopt;  ///< the recording's, if not the same
  std::string why;                                         ///< one sentence with the numbers
};
[[nodiscard]] CalibrationFit fit_of(const Calibration& calibration, const Conditions& recording);

}  // namespace gputrace::analysis
