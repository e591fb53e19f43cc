#include "cli/import/amdgpu_top_units.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "cli/import/text.h"

namespace gputrace::import {

namespace {

constexpr regdb::GcVersion kEvery{0, 0, 0};
constexpr regdb::GcVersion kGc103{10, 3, 0};
/// Versions before this one looked at the bits of GC 10.1 on all later chips too.
constexpr AmdgpuTopVersion kKnowsGc103{0, 10, 0};

/// Which bit a name stands for, from a GC version on (amdgpu_top's crates/libamdgpu_top,
/// stat/mod.rs, and its history). The last row that fits counts.
struct Name {
  std::string_view section;
  std::string_view name;
  regdb::GcVersion since;
  std::uint8_t bit;
};
constexpr std::array<Name, 28> kNames{{
    {"GRBM", "Graphics Pipe", kEvery, 31},
    {"GRBM", "Texture Pipe", kEvery, 14},
    {"GRBM", "Command Processor", kEvery, 29},
    {"GRBM", "Global Data Share", kEvery, 15},
    {"GRBM", "Shader Export", kEvery, 20},
    {"GRBM", "Shader Processor Interpolator", kEvery, 22},
    {"GRBM", "Primitive Assembly", kEvery, 25},
    {"GRBM", "Depth Block", kEvery, 26},
    {"GRBM", "Color Block", kEvery, 30},
    {"GRBM", "Vertex Grouper / Tessellator", kEvery, 17},
    {"GRBM", "Input Assembly", kEvery, 19},
    {"GRBM", "Work Distributor", kEvery, 21},
    {"GRBM", "Geometry Engine", kEvery, 21},
    {"GRBM", "Barycentric Interpolator", kEvery, 23},
    {"GRBM2", "RunList Controller", kEvery, 24},
    {"GRBM2", "RunList Controller", kGc103, 26},
    {"GRBM2", "Ring List Controller", kEvery, 24},
    {"GRBM2", "Ring List Controller", kGc103, 26},
    {"GRBM2", "Texture Cache", kEvery, 25},
    {"GRBM2", "Texture Cache per Pipe", kEvery, 25},
    {"GRBM2", "Texture Cache per Pipe", kGc103, 27},
    {"GRBM2", "Unified Translation Cache Level-2", kEvery, 15},
    {"GRBM2", "Efficiency Arbiter", kEvery, 16},
    {"GRBM2", "Render Backend Memory Interface", kEvery, 17},
    {"GRBM2", "SDMA", kEvery, 21},
    {"GRBM2", "Command Processor -  Fetcher", kEvery, 28},
    {"GRBM2", "Command Processor -  Compute", kEvery, 29},
    {"GRBM2", "Command Processor - Graphics", kEvery, 30},
}};

std::optional<std::uint8_t> find_bit(std::string_view section, std::string_view name,
                                     const regdb::GcVersion& gc,
                                     const std::optional<AmdgpuTopVersion>& version) {
  const bool old = version && *version < kKnowsGc103;
  std::optional<std::uint8_t> bit;
  for (const Name& row : kNames) {
    const bool fits = row.since == kEvery || (row.since <= gc && !old);
    if (row.section == section && row.name == name && fits) {
      bit = row.bit;
    }
  }
  return bit;
}

}  // namespace

AmdgpuTopUnit find_amdgpu_top_unit(std::string_view section, std::string_view name,
                                   const regdb::RegisterMap& map, const regdb::GcVersion& gc,
                                   const std::optional<AmdgpuTopVersion>& version) {
  const std::optional<std::uint8_t> bit = find_bit(section, name, gc, version);
  if (!bit) {
    return {{}, {}, 0, "an unknown name"};
  }
  const std::string_view register_name = section == "GRBM" ? "GRBM_STATUS" : "GRBM_STATUS2";
  const regdb::Register* const reg = map.find(register_name);
  const regdb::RegisterField* there = nullptr;
  if (reg != nullptr) {
    const auto found = std::find_if(
        reg->fields.begin(), reg->fields.end(),
        [&bit](const auto& one) { return one.shift <= *bit && *bit < one.shift + one.width; });
    there = found == reg->fields.end() ? nullptr : &*found;
  }
  if (there == nullptr) {
    return {{}, {}, 0, fmt::format("bit {} of {}, which has no field there", *bit, register_name)};
  }
  if (there->kind != regdb::FieldKind::kBusy || there->width != 1) {
    return {{},
            {},
            0,
            fmt::format("bit {} of {}, which is {} there", *bit, register_name, there->name)};
  }
  return {reg->name, there->name, *bit, {}};
}

}  // namespace gputrace::import
