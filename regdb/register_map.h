// What each bit of the GRBM_STATUS registers means on one GC version.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "daemon/base/result.h"
#include "regdb/gc_version.h"

namespace gputrace::regdb {

enum class FieldKind {
  kBusy,            ///< the unit has work in it now
  kClean,           ///< a cache holds nothing to write back; not a busy bit
  kRequestPending,  ///< a request waits; not work
  kCounter,         ///< a number, such as free command FIFO entries
};
[[nodiscard]] std::string_view to_string(FieldKind kind);

/// Where a unit stands in the pipeline; reports group by it, in this order.
enum class UnitGroup { kFrontEnd, kShader, kMemoryPath, kFixedFunction };
/// "front end", "shader", "memory path", "fixed function".
[[nodiscard]] std::string_view to_string(UnitGroup group);

struct RegisterField {
  std::string name;  ///< the header's name: "EA_BUSY"
  std::uint8_t shift = 0;
  std::uint8_t width = 1;
  FieldKind kind = FieldKind::kBusy;
  UnitGroup group = UnitGroup::kFrontEnd;
  std::string meaning;   ///< one line
  std::string suggests;  ///< what a high busy fraction suggests; empty where nothing can be said

  [[nodiscard]] std::uint32_t mask() const {
    return (width >= 32 ? 0xffffffffU : ((1U << width) - 1U)) << shift;
  }
  [[nodiscard]] std::uint32_t extract(std::uint32_t word) const { return (word & mask()) >> shift; }
};

struct Register {
  std::string name;                ///< "GRBM_STATUS2"
  std::uint32_t dword_offset = 0;  ///< absolute, as AMDGPU_INFO_READ_MMR_REG wants it: 0x2002
  bool unprivileged = false;       ///< in the kernel's list for READ_MMR_REG of this generation
  std::vector<RegisterField> fields;

  [[nodiscard]] const RegisterField* find_field(std::string_view field_name) const;
};

struct RegisterMap {
  std::string table;            ///< the data file that serves this version: "11.0.0"
  std::optional<GcVersion> gc;  ///< the version asked for: 11.0.1; absent for foreign tables
  std::vector<Register> registers;

  [[nodiscard]] const Register* find(std::string_view register_name) const;
};

}  // namespace gputrace::regdb
