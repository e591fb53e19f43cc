// What the units of any GPU mean to the rules: busy bits of all generations, by the place that they
// have in the pipeline.
#pragma once

#include <array>
#include <cstddef>
#include <optional>
#include <span>
#include <string>

#include "cli/analysis/bottleneck.h"

namespace gputrace::analysis {

/// In the order of work: from the command stream to DRAM.
enum class Role : std::size_t {
  kActive,    ///< GUI_ACTIVE
  kGeometry,  ///< GE; VGT, IA and WD before it
  kPrimitives,
  kRaster,  ///< SC
  kDepth,
  kShader,  ///< SPI: launches waves and watches them
  kExport,  ///< SX
  kColour,
  kTexture,      ///< TA
  kVectorCache,  ///< TCP; TC before it, which is L1 and L2 in one bit
  kArrayCache,   ///< GL1
  kL2,
  kMemory,  ///< EA: requests to DRAM under way
};
inline constexpr std::size_t kRoles = 13;

/// A role's busy share, and the error of sampling about it.
struct RoleReading {
  double busy = 0;
  double sd = 0;
  std::optional<Interval> ci95;
  std::string name;  ///< for sentences: "EA_BUSY", "TA_BUSY of the shader engines", "ta"
};

/// One place a role. Absent = the recording has no such unit.
class Signature {
 public:
  [[nodiscard]] const std::optional<RoleReading>& at(Role role) const {
    return readings_[static_cast<std::size_t>(role)];
  }
  [[nodiscard]] std::optional<RoleReading>& at(Role role) {
    return readings_[static_cast<std::size_t>(role)];
  }
  [[nodiscard]] bool has(Role role) const { return at(role).has_value(); }

 private:
  std::array<std::optional<RoleReading>, kRoles> readings_;
};

/// The whole-GPU register speaks where it has the unit; else the mean over the shader engines.
/// Units without valid samples are absent.
[[nodiscard]] Signature read_signature(std::span<const BusyUnit> units);

}  // namespace gputrace::analysis
