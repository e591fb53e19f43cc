#include "cli/import/mangohud_columns.h"

#include <algorithm>
#include <array>
#include <ctime>
#include <utility>

#include "cli/import/text.h"
#include "daemon/base/time.h"

namespace gputrace::import {

namespace {

constexpr std::size_t kMaxHeaderLines = 16;
constexpr double kGiB = 1024.0 * 1024 * 1024;

/// MangoHud's columns (writeFileHeaders and update_hw_info in its source). Memory is in GiB.
struct KnownColumn {
  std::string_view name;
  std::string_view sensor;
  std::string_view unit;
  double scale = 1;
  double max = 0;  ///< 0 = none
  bool zero_is_absent = false;
  std::string_view decision = {};
};
constexpr std::array<KnownColumn, 13> kColumns{{
    {"cpu_load", "cpu_activity", "%", 1, 100, false},
    {"cpu_power", "cpu_power", "W", 1, 10'000, true},
    {"cpu_temp", "cpu_temperature", "C", 1, 200, true},
    {"cpu_mhz", "cpu_clock", "MHz", 1, 20'000, true},
    {"gpu_load", "gfx_activity", "%", 1, 100, false},
    {"gpu_temp", "gpu_temperature", "C", 1, 200, true,
     "MangoHud does not say which temperature this is; of a Radeon mostly the edge"},
    {"gpu_core_clock", "gfx_clock", "MHz", 1, 20'000, true},
    {"gpu_mem_clock", "mem_clock", "MHz", 1, 20'000, true},
    {"gpu_vram_used", "vram_used", "bytes", kGiB, 4096, true},
    {"gpu_power", "package_power", "W", 1, 10'000, true,
     "MangoHud does not say which power this is: the board of a graphics card, on an APU what its "
     "driver gives"},
    {"ram_used", "ram_used", "bytes", kGiB, 1'000'000, true},
    {"swap_used", "swap_used", "bytes", kGiB, 1'000'000, false},
    {"process_rss", "process_memory", "bytes", kGiB, 1'000'000, true},
}};

MangoHudColumn column_of(const KnownColumn& known, std::size_t cell) {
  MangoHudColumn column;
  column.cell = cell;
  column.name = known.name;
  column.sensor.name = known.sensor;
  column.sensor.source = "MangoHud " + column.name;
  column.sensor.label = column.name;
  column.sensor.unit = known.unit;
  column.sensor.decision = known.decision;
  column.scale = known.scale;
  if (known.max > 0) {
    column.max = known.max;
  }
  column.zero_is_absent = known.zero_is_absent;
  return column;
}

bool has_cell(const std::vector<CsvCell>& cells, std::size_t count, std::string_view name) {
  return std::any_of(cells.begin(), cells.begin() + static_cast<std::ptrdiff_t>(count),
                     [name](const CsvCell& cell) { return cell.text == name; });
}

bool is_column_row(const std::vector<CsvCell>& cells, std::size_t count) {
  return has_cell(cells, count, "fps") &&
         (has_cell(cells, count, "frametime") || has_cell(cells, count, "elapsed"));
}

std::optional<BadCell> take_columns(const std::vector<CsvCell>& cells, std::size_t count,
                                    MangoHudHeader& header) {
  header.cells = count;
  for (std::size_t i = 0; i < count; ++i) {
    const std::string& name = cells[i].text;
    const bool again = std::any_of(cells.begin(), cells.begin() + static_cast<std::ptrdiff_t>(i),
                                   [&name](const CsvCell& other) { return other.text == name; });
    if (again && !name.empty()) {
      return BadCell{cells[i].column, "a second column " + excerpt(name)};
    }
    const auto* known = std::find_if(kColumns.begin(), kColumns.end(),
                                     [&name](const auto& column) { return column.name == name; });
    if (name == "frametime") {
      header.frametime = i;
    } else if (name == "elapsed") {
      header.elapsed = i;
    } else if (known != kColumns.end()) {
      header.columns.push_back(column_of(*known, i));
    } else if (!name.empty() && name != "fps") {
      header.unknown.push_back(excerpt(name));
    }
  }
  return std::nullopt;
}

/// "os,cpu,gpu,..." and the line below it. Values may have commas without quotes; then they cannot
/// be told apart.
struct Facts {
  std::vector<CsvCell> names;
  std::size_t count = 0;
  bool expected = false;  ///< the next line has the values
};

void take_facts(const std::vector<CsvCell>& cells, std::size_t count, Facts& facts,
                MangoHudHeader& header) {
  if (facts.expected) {
    facts.expected = false;
    for (std::size_t i = 0; count == facts.count && i < count; ++i) {
      if (facts.names[i].text == "gpu") {
        header.gpu = cells[i].text;
      } else if (facts.names[i].text == "driver") {
        header.driver = cells[i].text;
      }
    }
  } else if (has_cell(cells, count, "os") && has_cell(cells, count, "gpu")) {
    facts.names = cells;
    facts.count = count;
    facts.expected = true;
  }
}

}  // namespace

Result<MangoHudHeader> read_mangohud_header(LineReader& input, const BadLines& bad_lines) {
  MangoHudHeader header;
  Facts facts;
  std::vector<CsvCell> cells;
  Line line;
  while (line.number < kMaxHeaderLines) {
    const Result<bool> more = input.next(line);
    if (!more) {
      return tl::unexpected(more.error());
    }
    if (!*more) {
      break;
    }
    if (line.too_long) {
      return bad_lines.fatal(line.number, {kMaxLineLength, "the line is too long"});
    }
    std::size_t count = 0;
    const std::string_view text = line.number == 1 ? without_byte_order_mark(line.text) : line.text;
    if (split_csv(text, cells, count)) {
      continue;  // a fact with a stray quote
    }
    if (!is_column_row(cells, count)) {
      take_facts(cells, count, facts, header);
      continue;
    }
    if (const auto bad = take_columns(cells, count, header)) {
      return bad_lines.fatal(line.number, *bad);
    }
    return header;
  }
  return bad_lines.fatal(line.number, {1,
                                       "no row of column names (fps,frametime,...) so far; a log "
                                       "of MangoHud has it in its first lines"});
}

bool looks_like_mangohud(std::string_view text) {
  std::vector<CsvCell> cells;
  std::size_t count = 0;
  std::string_view rest = without_byte_order_mark(text);
  for (std::size_t i = 0; i < kMaxHeaderLines && !rest.empty(); ++i) {
    const std::size_t end = rest.find('\n');
    if (!split_csv(rest.substr(0, end), cells, count) && is_column_row(cells, count)) {
      return true;
    }
    rest.remove_prefix(end == std::string_view::npos ? rest.size() : end + 1);
  }
  return false;
}

bool looks_like_mangohud_summary(std::string_view text) {
  return without_byte_order_mark(text).starts_with("0.1% Min FPS,");
}

std::optional<std::int64_t> realtime_of_log_name(std::string_view name) {
  constexpr std::string_view kForm = "_dddd-dd-dd_dd-dd-dd.csv";
  if (name.size() < kForm.size()) {
    return std::nullopt;
  }
  const std::string_view end = name.substr(name.size() - kForm.size());
  for (std::size_t i = 0; i < kForm.size(); ++i) {
    const bool digit = end[i] >= '0' && end[i] <= '9';
    if (kForm[i] == 'd' ? !digit : end[i] != kForm[i]) {
      return std::nullopt;
    }
  }
  std::tm local{};
  local.tm_year = parse_number<int>(end.substr(1, 4)).value_or(0) - 1900;
  local.tm_mon = parse_number<int>(end.substr(6, 2)).value_or(0) - 1;
  local.tm_mday = parse_number<int>(end.substr(9, 2)).value_or(0);
  local.tm_hour = parse_number<int>(end.substr(12, 2)).value_or(0);
  local.tm_min = parse_number<int>(end.substr(15, 2)).value_or(0);
  local.tm_sec = parse_number<int>(end.substr(18, 2)).value_or(0);
  local.tm_isdst = -1;
  const std::tm stated = local;
  const std::time_t seconds = std::mktime(&local);
  const bool exists = local.tm_year == stated.tm_year && local.tm_mon == stated.tm_mon &&
                      local.tm_mday == stated.tm_mday && local.tm_min == stated.tm_min &&
                      local.tm_sec == stated.tm_sec;
  if (!exists || stated.tm_year < 70 || stated.tm_year > 200 || seconds < 0) {
    return std::nullopt;
  }
  return static_cast<std::int64_t>(seconds) * kNsPerSecond;
}

}  // namespace gputrace::import
