// Which GPU of an amdgpu_top file is imported, and which register table names its bits.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "cli/import/amdgpu_top_record.h"
#include "daemon/base/result.h"
#include "regdb/register_database.h"

namespace gputrace::import {

/// One GPU of a file, told from the others by its PCI address, or where there is none by its place.
struct AmdgpuTopChoice {
  std::size_t index = 0;
  std::string pci;
  std::vector<std::string> others;  ///< in words: "0000:13:00.0 (AMD Radeon Graphics)"

  /// Null when the record does not have it (the GPU was suspended).
  [[nodiscard]] const AmdgpuTopDevice* find_in(const AmdgpuTopRecord& record) const;
};
/// `wanted`: a PCI address or an index; without it the first graphics card, else the first GPU.
[[nodiscard]] Result<AmdgpuTopChoice> choose_amdgpu_top_device(
    const AmdgpuTopRecord& record, const std::optional<std::string>& wanted);

struct AmdgpuTopTable {
  std::optional<regdb::GcVersion> gc;     ///< absent where the file tells the class alone
  std::optional<regdb::RegisterMap> map;  ///< absent: the bits cannot be named
  regdb::GcVersion table_gc;              ///< of the map
  std::string problem;                    ///< why there is no map
};
/// An error when --gc contradicts the file.
[[nodiscard]] Result<AmdgpuTopTable> find_amdgpu_top_table(
    const AmdgpuTopDevice& device, const regdb::RegisterDatabase& regdb,
    const std::optional<regdb::GcVersion>& gc);

}  // namespace gputrace::import
