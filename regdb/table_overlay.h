// Puts register tables together: a table on top of its base, an overlay's fields on top of both.
#pragma once

#include <span>
#include <string>
#include <vector>

#include "daemon/base/result.h"
#include "regdb/reg_file.h"

namespace gputrace::regdb {

struct MergedRegister {
  std::string name;
  std::uint32_t offset = 0;
  std::vector<FieldStatement> fields;  ///< by bit
};

/// Adds the registers of a built-in table to those of its base.
[[nodiscard]] Status add_registers(const TableStatement& table, std::vector<MergedRegister>& into);

/// Replaces fields of `registers` by those that an overlay states for them: at the same bits or of
/// the same name. Refuses registers that are not there and other offsets than the built-in ones.
[[nodiscard]] Status overlay_registers(const TableStatement& overlay,
                                       std::vector<MergedRegister>& registers);

/// Refuses what an overlay may not state: anything but fields and their descriptions.
[[nodiscard]] Status check_overlay_statements(const RegFile& overlay);

/// The description of a field from several layers, the strongest first; a layer without a meaning
/// leaves the texts to the next. Fails at `field` when no layer has a meaning.
[[nodiscard]] Result<FieldDescription> describe(const FieldStatement& field,
                                                std::span<const FieldDescriptions* const> layers);

}  // namespace gputrace::regdb
