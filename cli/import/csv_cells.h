// Splits a line of a CSV file with quoted cells (RFC 4180) into its cells.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "cli/import/bad_lines.h"

namespace gputrace::import {

struct CsvCell {
  std::string text;        ///< without the blanks around it, and without quotes
  std::size_t column = 1;  ///< of its first byte in the line, from 1
};

/// Parses into `cells`, whose memory is used again. `count` is how many of them are the line's.
[[nodiscard]] std::optional<BadCell> split_csv(std::string_view line, std::vector<CsvCell>& cells,
                                               std::size_t& count);

}  // namespace gputrace::import
