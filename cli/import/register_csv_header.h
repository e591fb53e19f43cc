// What stands above the rows of a register CSV: keys, and which column is which register.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "cli/import/bad_lines.h"
#include "cli/import/line_reader.h"
#include "daemon/store/session.h"
#include "regdb/register_database.h"

namespace gputrace::import {

struct RegisterCsvHeader {
  regdb::GcVersion gc;
  std::string regdb_table;
  std::vector<sampler::OfferedRegister> registers;  ///< in the order of the file's columns
  std::string gpu_name;                             ///< empty when the file does not say
  std::optional<double> rate_hz;
  std::optional<std::int64_t> started_realtime_ns;  ///< wall clock at the first row
  std::vector<std::string> unknown_keys;
};

/// Reads up to and with the row of column names. `gc` is what --gc said; a file that says something
/// else is an error, as is one where neither says anything.
[[nodiscard]] Result<RegisterCsvHeader> read_register_csv_header(
    LineReader& input, const regdb::RegisterDatabase& regdb, std::optional<regdb::GcVersion> gc,
    const BadLines& bad_lines);

}  // namespace gputrace::import
