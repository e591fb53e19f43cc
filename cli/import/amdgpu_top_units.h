// The names under which amdgpu_top shows the bits of GRBM_STATUS and GRBM_STATUS2, as fields of the
// GPU's register table.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "regdb/register_map.h"

namespace gputrace::import {

/// "major.minor.patch" of the amdgpu_top that wrote a file.
struct AmdgpuTopVersion {
  std::uint32_t major = 0;
  std::uint32_t minor = 0;
  std::uint32_t patch = 0;
  auto operator<=>(const AmdgpuTopVersion&) const = default;
};

struct AmdgpuTopUnit {
  std::string register_name;  ///< empty when the field is not known
  std::string field;
  std::uint8_t bit = 0;
  std::string reason;  ///< for a note, when empty above
};

/// `section`: "GRBM" or "GRBM2". `gc` of the map's own version. Without `version` a recent one is
/// taken.
[[nodiscard]] AmdgpuTopUnit find_amdgpu_top_unit(std::string_view section, std::string_view name,
                                                 const regdb::RegisterMap& map,
                                                 const regdb::GcVersion& gc,
                                                 const std::optional<AmdgpuTopVersion>& version);

}  // namespace gputrace::import
