// Calibrations whose curves and scatter are known: the ends are those of a published table, the
// width of the ridge is free.
#pragma once

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <random>
#include <string>
#include <vector>

#include "cli/analysis/calibration.h"

namespace gputrace::test {

inline constexpr double kKnownRidge = 16;

struct KnownUnit {
  const char* register_name;
  const char* name;
  double left;   ///< busy fraction far below the ridge
  double right;  ///< far above
};
inline constexpr std::array<KnownUnit, 5> kKnownUnits{{
    {"GRBM_STATUS2", "EA_BUSY", 0.95, 0.41},
    {"GRBM_STATUS3", "GL2CC_BUSY", 0.95, 0.43},
    {"GRBM_STATUS3", "GL1CC_BUSY", 0.93, 0.58},
    {"GRBM_STATUS2", "TCP_BUSY", 0.93, 0.61},
    {"GRBM_STATUS", "TA_BUSY", 0.95, 0.63},
}};

class KnownCurves {
 public:
  /// Workloads lie `scatter` (standard deviation) off the curve. `in_common` of the variance is of
  /// all units of a workload together, the rest is each unit's own.
  KnownCurves(double ridge_octaves, double scatter, std::uint64_t seed, double in_common = 0)
      : width_(ridge_octaves),
        own_(scatter * std::sqrt(1 - in_common)),
        common_(scatter * std::sqrt(in_common)),
        rng_(seed) {}

  using Deviation = std::array<double, kKnownUnits.size()>;
  Deviation deviation() {
    Deviation result{};
    for (double& value : result) {
      value = normal(own_);
    }
    const double common = normal(common_);
    for (double& value : result) {
      value += common;
    }
    return result;
  }

  std::vector<analysis::BusyUnit> units_at(double intensity, const Deviation& deviation,
                                           std::uint64_t samples) {
    std::vector<analysis::BusyUnit> units;
    const double share = 1 / (1 + std::exp(-std::log2(intensity / kKnownRidge) / width_));
    for (std::size_t i = 0; i < kKnownUnits.size(); ++i) {
      const KnownUnit& unit = kKnownUnits.at(i);
      const double busy =
          std::clamp(unit.left + (unit.right - unit.left) * share + deviation.at(i), 0.0, 1.0);
      std::binomial_distribution<std::uint64_t> hits(samples, busy);
      const std::uint64_t k = hits(rng_);
      const double p = static_cast<double>(k) / static_cast<double>(samples);
      const analysis::Counts counts{
          samples, k, static_cast<std::uint64_t>(2 * p * (1 - p) * static_cast<double>(samples))};
      units.push_back({.key = {unit.register_name, unit.name},
                       .busy = p,
                       .counts = counts,
                       .ci95 = analysis::ci95(counts, {})});
    }
    return units;
  }

  /// Each family at 12 intensities, 0.25 to 512, for 2 s.
  analysis::Calibration calibration(int families) {
    analysis::Calibration result;
    result.compute = analysis::Ceiling{
        .name = "fp32", .value = 1600, .lower = {}, .upper = {}, .unit = "GFLOPS"};
    result.bandwidth = analysis::Ceiling{
        .name = "DRAM copy", .value = 100, .lower = {}, .upper = {}, .unit = "GB/s"};
    for (int family = 0; family < families; ++family) {
      const Deviation off = deviation();
      for (int octave = -2; octave <= 9; ++octave) {
        analysis::CalibrationPoint point;
        point.family = fmt::format("family {}", family);
        point.workload = fmt::format("{} at 2^{}", point.family, octave);
        point.intensity = std::exp2(octave);
        point.truth = *point.intensity < kKnownRidge ? analysis::Bottleneck::kBandwidth
                                                     : analysis::Bottleneck::kCompute;
        point.units = units_at(*point.intensity, off, 2000);
        result.points.push_back(std::move(point));
      }
    }
    return result;
  }

 private:
  double normal(double deviation) {
    return deviation > 0 ? std::normal_distribution<double>(0, deviation)(rng_) : 0;
  }

  double width_;
  double own_;
  double common_;
  std::mt19937_64 rng_;
};

}  // namespace gputrace::test
