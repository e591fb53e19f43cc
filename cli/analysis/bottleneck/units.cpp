#include "cli/analysis/bottleneck/units.h"

#include <algorithm>
#include <cmath>
#include <string_view>

namespace gputrace::analysis {
namespace {

struct RoleName {
  Role role;
  std::string_view name;
};

/// Names of all tables of regdb/gc, and of radeontop's columns. Of several that a GPU has for one
/// role the first decides: EA_LINK is the way behind EA, VGT stands between IA and PA.
constexpr std::array kNames = {
    RoleName{Role::kActive, "GUI_ACTIVE"},     RoleName{Role::kActive, "gpu"},
    RoleName{Role::kActive, "ANY_ACTIVE"},     RoleName{Role::kGeometry, "GE_BUSY"},
    RoleName{Role::kGeometry, "VGT_BUSY"},     RoleName{Role::kGeometry, "IA_BUSY"},
    RoleName{Role::kGeometry, "WD_BUSY"},      RoleName{Role::kGeometry, "vgt"},
    RoleName{Role::kPrimitives, "PA_BUSY"},    RoleName{Role::kPrimitives, "pa"},
    RoleName{Role::kRaster, "SC_BUSY"},        RoleName{Role::kRaster, "sc"},
    RoleName{Role::kDepth, "DB_BUSY"},         RoleName{Role::kDepth, "db"},
    RoleName{Role::kShader, "SPI_BUSY"},       RoleName{Role::kShader, "spi"},
    RoleName{Role::kExport, "SX_BUSY"},        RoleName{Role::kExport, "sx"},
    RoleName{Role::kColour, "CB_BUSY"},        RoleName{Role::kColour, "cb"},
    RoleName{Role::kTexture, "TA_BUSY"},       RoleName{Role::kTexture, "ta"},
    RoleName{Role::kVectorCache, "TCP_BUSY"},  RoleName{Role::kVectorCache, "TC_BUSY"},
    RoleName{Role::kArrayCache, "GL1CC_BUSY"}, RoleName{Role::kL2, "GL2CC_BUSY"},
    RoleName{Role::kMemory, "EA_BUSY"},        RoleName{Role::kMemory, "EA_LINK_BUSY"},
};

/// Of percentages without a number of samples: radeontop's default of 120 samples a line shows
/// 50 % to 4.6 points, and a stretch has several lines.
constexpr double kSdWithoutCounts = 0.03;

bool is_shader_engine(const UnitKey& key) {
  return key.register_name.starts_with("GRBM_STATUS_SE");
}

double sampling_sd(const BusyUnit& unit) {
  constexpr double kZ975 = 1.96;
  const double sd =
      unit.ci95 ? (unit.ci95->upper - unit.ci95->lower) / (2 * kZ975) : kSdWithoutCounts;
  return std::hypot(sd, unit.missing_shift);
}

bool has_samples(const BusyUnit& unit) {
  return !unit.counts || unit.counts->samples > 0;
}

/// The mean of the copies. Their errors are taken to be common: they see the same work.
std::optional<RoleReading> mean_of_engines(std::span<const BusyUnit> units, std::string_view name) {
  RoleReading mean;
  Interval ci95{.lower = 0, .upper = 0};
  bool all_have_ci95 = true;
  double copies = 0;
  for (const BusyUnit& unit : units) {
    if (unit.key.name != name || !is_shader_engine(unit.key) || !has_samples(unit)) {
      continue;
    }
    ++copies;
    mean.busy += unit.busy;
    mean.sd += sampling_sd(unit);
    all_have_ci95 = all_have_ci95 && unit.ci95.has_value();
    ci95.lower += unit.ci95 ? unit.ci95->lower : 0;
    ci95.upper += unit.ci95 ? unit.ci95->upper : 0;
  }
  if (copies == 0) {
    return std::nullopt;
  }
  mean.busy /= copies;
  mean.sd /= copies;
  if (all_have_ci95) {
    mean.ci95 = {.lower = ci95.lower / copies, .upper = ci95.upper / copies};
  }
  mean.name = std::string(name) + " of the shader engines";
  return mean;
}

std::optional<RoleReading> reading_of(std::span<const BusyUnit> units, std::string_view name) {
  for (const BusyUnit& unit : units) {
    if (unit.key.name == name && !is_shader_engine(unit.key) && has_samples(unit)) {
      return RoleReading{.busy = std::clamp(unit.busy, 0.0, 1.0),
                         .sd = sampling_sd(unit),
                         .ci95 = unit.ci95,
                         .name = unit.key.name};
    }
  }
  return mean_of_engines(units, name);
}

}  // namespace

Signature read_signature(std::span<const BusyUnit> units) {
  Signature signature;
  for (const RoleName& known : kNames) {
    std::optional<RoleReading>& reading = signature.at(known.role);
    if (!reading) {
      reading = reading_of(units, known.name);
    }
  }
  return signature;
}

}  // namespace gputrace::analysis
