// Busy shares of work whose limit is known: published tables of a Radeon 780M, and patterns that
// follow from the order of the units.
#pragma once

#include <algorithm>
#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "cli/analysis/bottleneck.h"

namespace gputrace::test {

struct ClassProfile {
  std::string name;
  analysis::Bottleneck truth = analysis::Bottleneck::kUnknown;
  std::vector<double> busy;  ///< in the order of profile_units()
};

inline const std::vector<analysis::UnitKey>& profile_units() {
  static const std::vector<analysis::UnitKey> kUnits = {
      {"GRBM_STATUS", "GUI_ACTIVE"}, {"GRBM_STATUS", "SPI_BUSY"},    {"GRBM_STATUS", "TA_BUSY"},
      {"GRBM_STATUS2", "TCP_BUSY"},  {"GRBM_STATUS3", "GL1CC_BUSY"}, {"GRBM_STATUS3", "GL2CC_BUSY"},
      {"GRBM_STATUS2", "EA_BUSY"},   {"GRBM_STATUS", "SC_BUSY"},     {"GRBM_STATUS", "DB_BUSY"},
      {"GRBM_STATUS", "CB_BUSY"},    {"GRBM_STATUS", "GE_BUSY"},     {"GRBM_STATUS", "PA_BUSY"}};
  return kUnits;
}

/// The first four are published (GE and PA of the game, and pixels of kernels, are not); the others
/// are made up after what the model does.
inline const std::vector<ClassProfile>& class_profiles() {
  using enum analysis::Bottleneck;
  static const std::vector<ClassProfile> kProfiles = {
      {"low intensity", kMemory, {.95, .95, .95, .93, .93, .95, .95, 0, 0, 0, 0, 0}},
      {"high intensity", kCompute, {.99, .99, .63, .61, .58, .43, .41, 0, 0, 0, 0, 0}},
      {"game, 54 W", kMemory, {.99, .97, .83, .84, .94, .95, .93, .94, .93, .74, .1, .1}},
      {"game, 25 W", kMemory, {.97, .95, .83, .83, .91, .93, .89, .93, .91, .74, .1, .1}},
      {"shaders of a game", kCompute, {.99, .98, .6, .6, .5, .48, .45, .95, .95, .45, .1, .1}},
      {"texture", kTexture, {.99, .99, .99, .99, .4, .25, .25, .93, .93, .3, .05, .05}},
      {"raster", kRaster, {.99, .97, .03, .03, .6, .58, .55, .98, .97, .97, .05, .05}},
      {"geometry", kGeometry, {.98, .9, .35, .33, .38, .4, .35, .5, .45, .3, .98, .97}},
      {"cpu", kCpu, {.46, .44, .36, .36, .38, .38, .37, .42, .42, .3, .1, .08}},
      {"mixed", kMixed, {.97, .93, .74, .73, .7, .69, .67, .78, .77, .55, .2, .2}},
  };
  return kProfiles;
}

/// `samples` at 1 kHz, changes as of a relaxation of 2 ms.
inline std::vector<analysis::BusyUnit> make_units(const std::vector<analysis::UnitKey>& keys,
                                                  const std::vector<double>& busy,
                                                  std::uint64_t samples = 10'000) {
  std::vector<analysis::BusyUnit> units;
  for (std::size_t i = 0; i < keys.size(); ++i) {
    const double p = std::clamp(busy[i], 0.0, 1.0);
    const auto n = static_cast<double>(samples);
    const analysis::Counts counts{.samples = samples,
                                  .busy = static_cast<std::uint64_t>(n * p + 0.5),
                                  .changes = static_cast<std::uint64_t>(n * 0.8 * p * (1 - p))};
    units.push_back({.key = keys[i],
                     .busy = static_cast<double>(counts.busy) / n,
                     .counts = counts,
                     .ci95 = analysis::ci95(counts, {})});
  }
  return units;
}

/// A stretch of ten seconds; owns its units.
struct Stretch {
  std::vector<analysis::BusyUnit> units;
  std::optional<analysis::MemoryWitness> witness = std::nullopt;
  double unknown_share = 0;
  double unseen_share = 0;
  double asleep_share = 0;
  std::vector<analysis::KnownWorkload> known = {};

  [[nodiscard]] analysis::Verdict classify(
      std::optional<analysis::Bottleneck> before = std::nullopt) const {
    return analysis::classify({.seconds = 10,
                               .units = units,
                               .unknown_share = unknown_share,
                               .unseen_share = unseen_share,
                               .asleep_share = asleep_share,
                               .witness = witness,
                               .known = known},
                              before);
  }
};

inline analysis::MemoryWitness dram_bytes(double gbps, double ceiling_gbps) {
  return {.source = "pmu amd_umc",
          .gbps = gbps,
          .ceiling_gbps = ceiling_gbps,
          .ceiling_source = "roofline of 2026-11-30",
          .activity = std::nullopt,
          .covers = "CPU and GPU together"};
}

}  // namespace gputrace::test
