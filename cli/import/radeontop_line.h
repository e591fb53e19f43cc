// One line of `radeontop -d`: a time stamp, a PCI bus, percentages, and memory and clock columns.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

#include "cli/import/bad_lines.h"

namespace gputrace::import {

struct DumpColumn {
  std::string_view name;   ///< "gpu"
  double percent = 0;      ///< 0 to 100 in busy columns
  std::size_t offset = 0;  ///< of its name in the line
};

struct DumpLine {
  std::int64_t realtime_ns = 0;
  std::optional<std::uint8_t> bus;
  std::vector<DumpColumn> busy;            ///< NAME P%
  std::vector<std::string_view> quantity;  ///< NAME P% AMOUNT: vram, gtt, mclk, sclk
};

/// Parses into `out`, whose memory is used again. What it returns is wrong with the line. Knows the
/// form only; whether a column exists is the caller's business.
[[nodiscard]] std::optional<BadCell> parse_dump_line(std::string_view line, DumpLine& out);

/// True for "123.4: ": enough to tell a dump from other files.
[[nodiscard]] bool looks_like_dump_line(std::string_view line);

}  // namespace gputrace::import
