// What stands above the rows of a MangoHud log, and what its columns are.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "cli/import/bad_lines.h"
#include "cli/import/csv_cells.h"
#include "cli/import/line_reader.h"
#include "daemon/store/session.h"

namespace gputrace::import {

/// A column that becomes a series.
struct MangoHudColumn {
  std::size_t cell = 0;
  std::string name;  ///< MangoHud's
  sampler::SensorDescription sensor;
  double scale = 1;
  std::optional<double> max;    ///< of the column's own unit; more cannot be true
  bool zero_is_absent = false;  ///< MangoHud writes 0 for what it cannot read, and 0 cannot be
};

struct MangoHudHeader {
  std::size_t cells = 0;
  std::optional<std::size_t> frametime;
  std::optional<std::size_t> elapsed;
  std::vector<MangoHudColumn> columns;
  std::vector<std::string> unknown;  ///< columns without a meaning here
  std::string gpu;                   ///< empty when the file does not say
  std::string driver;
};

/// Reads up to and with the row of column names.
[[nodiscard]] Result<MangoHudHeader> read_mangohud_header(LineReader& input,
                                                          const BadLines& bad_lines);

/// Whether these are the first lines of a log, or of the summary that MangoHud writes beside it.
[[nodiscard]] bool looks_like_mangohud(std::string_view text);
[[nodiscard]] bool looks_like_mangohud_summary(std::string_view text);

/// CLOCK_REALTIME of "game_2026-11-29_22-27-15.csv", taken as local time: MangoHud names its logs
/// by the time when they began. Absent for other names.
[[nodiscard]] std::optional<std::int64_t> realtime_of_log_name(std::string_view name);

}  // namespace gputrace::import
