// A whole radeontop dump in memory: one line a second makes a day 86,400 lines.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "cli/import/bad_lines.h"
#include "cli/import/line_reader.h"

namespace gputrace::import {

struct RadeontopDump {
  std::vector<std::string> columns;     ///< busy columns, as the first line has them
  std::vector<std::int64_t> times_ns;   ///< a line; realtime, ascending
  std::vector<double> percentages;      ///< [line * columns.size() + column]
  std::optional<std::uint8_t> bus;      ///< PCI bus of the GPU
  std::vector<std::string> quantities;  ///< memory and clock columns, which are not imported

  [[nodiscard]] std::span<const double> line(std::size_t index) const {
    return std::span(percentages).subspan(index * columns.size(), columns.size());
  }
};

/// radeontop's messages on standard output ("Dumping to -, ...", in the user's language) may stand
/// above the first line. No good line: a dump without times.
[[nodiscard]] Result<RadeontopDump> read_radeontop_dump(LineReader& input, BadLines& bad_lines);

}  // namespace gputrace::import
