// The *.reg files that are embedded at build time. A fault in them is a fault of the program.
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "daemon/base/result.h"
#include "regdb/reg_file.h"

namespace gputrace::regdb {

/// Defined by the build (gputrace_embed): file name without folder, and text.
std::span<const std::pair<std::string_view, std::string_view>> embedded_reg_files();

/// A file that must be there and right ("units.reg").
[[nodiscard]] RegFile parse_built_in(std::string_view file_name);

/// A table and those it is based on, the base first. kNotFound for a name that is no table.
[[nodiscard]] Result<std::vector<TableStatement>> built_in_table_chain(std::string_view table);

/// Registers that the kernel lets an unprivileged process read on this table's generation.
[[nodiscard]] std::vector<std::string> readable_registers(
    const std::vector<TableStatement>& table_chain);

}  // namespace gputrace::regdb
