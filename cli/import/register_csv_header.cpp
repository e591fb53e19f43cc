#include "cli/import/register_csv_header.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <string_view>

#include "cli/import/register_csv.h"
#include "cli/import/rfc3339.h"
#include "cli/import/text.h"

namespace gputrace::import {

namespace {

constexpr std::string_view kTimeColumn = "time_ns";

struct Keys {
  std::optional<regdb::GcVersion> gc;
  RegisterCsvHeader header;
};

std::size_t column_of(std::string_view part, std::string_view line) {
  return static_cast<std::size_t>(part.data() - line.data()) + 1;
}

std::optional<BadCell> check_magic(const Line& line) {
  const std::string_view text = trimmed(without_byte_order_mark(line.text));
  if (!text.starts_with(kRegisterCsvMagic)) {
    return BadCell{
        1, "a register CSV begins with the line '# gputrace-regs v1', not " + excerpt(text)};
  }
  const std::string_view version = trimmed(text.substr(kRegisterCsvMagic.size()));
  if (version != "v1") {
    return BadCell{1, "this gputrace reads v1 of the register CSV format, not " + excerpt(version)};
  }
  return std::nullopt;
}

/// `key` and `value` of "# key=value". Keys that only a newer gputrace knows are no error.
std::optional<std::string> take_key(std::string_view key, std::string_view value, Keys& keys) {
  if (key == "gc") {
    const Result<regdb::GcVersion> gc = regdb::parse_gc_version(value);
    if (!gc) {
      return excerpt(value) + " is not a GC version such as 11.0.1";
    }
    if (keys.gc && *keys.gc != *gc) {
      return "a second GC version, " + regdb::to_string(*gc) + " after " +
             regdb::to_string(*keys.gc);
    }
    keys.gc = *gc;
  } else if (key == "rate_hz") {
    const auto rate = parse_number<double>(value);
    if (!rate || !std::isfinite(*rate) || *rate <= 0) {
      return excerpt(value) + " is not a rate in Hz";
    }
    keys.header.rate_hz = rate;
  } else if (key == "started") {
    keys.header.started_realtime_ns = parse_rfc3339(value);
    if (!keys.header.started_realtime_ns) {
      return excerpt(value) + " is not a time such as 2026-11-29T22:27:15Z";
    }
  } else if (key == "gpu") {
    keys.header.gpu_name = value;
  } else {
    keys.header.unknown_keys.emplace_back(excerpt(key));
  }
  return std::nullopt;
}

std::optional<BadCell> take_comment(std::string_view line, Keys& keys) {
  const std::size_t equals = line.find('=');
  if (equals == std::string_view::npos) {
    return std::nullopt;  // a remark
  }
  const std::size_t hash = line.find('#');
  const std::string_view key = trimmed(line.substr(hash + 1, equals - hash - 1));
  const std::string_view value = trimmed(line.substr(equals + 1));
  if (auto what = take_key(key, value, keys)) {
    return BadCell{equals + 2, "# " + printable(key) + ": " + *what};
  }
  return std::nullopt;
}

std::string known_registers(const regdb::RegisterMap& map) {
  std::string names;
  for (const regdb::Register& reg : map.registers) {
    names += (names.empty() ? "" : ", ") + reg.name;
  }
  return names;
}

/// The row "time_ns,GRBM_STATUS,...".
std::optional<BadCell> take_columns(std::string_view line, const regdb::RegisterMap& map,
                                    RegisterCsvHeader& header) {
  std::size_t begin = 0;
  for (bool first = true; begin != std::string_view::npos; first = false) {
    const std::size_t comma = line.find(',', begin);
    const std::string_view cell = line.substr(begin, comma - begin);
    const std::string_view name = trimmed(cell);
    begin = comma == std::string_view::npos ? comma : comma + 1;
    if (first) {
      if (name != kTimeColumn) {
        return BadCell{1, "the first column must be time_ns, not " + excerpt(name)};
      }
      continue;
    }
    const regdb::Register* const reg = map.find(name);
    if (reg == nullptr) {
      return BadCell{column_of(cell, line),
                     fmt::format("{} is not a status register of GC {}; known are {}",
                                 excerpt(name), regdb::to_string(header.gc), known_registers(map))};
    }
    if (std::any_of(header.registers.begin(), header.registers.end(),
                    [name](const auto& other) { return other.name == name; })) {
      return BadCell{column_of(cell, line), "a second column " + reg->name};
    }
    if (header.registers.size() == sampler::kMaxRegisters) {
      return BadCell{column_of(cell, line),
                     fmt::format("more than {} registers", sampler::kMaxRegisters)};
    }
    header.registers.push_back({reg->name, reg->dword_offset, "import"});
  }
  if (header.registers.empty()) {
    return BadCell{1, "no register column; known are " + known_registers(map)};
  }
  return std::nullopt;
}

/// The map of the version that the file or --gc names.
Result<regdb::RegisterMap> map_of(const Keys& keys, std::optional<regdb::GcVersion> gc,
                                  const std::string& file, const regdb::RegisterDatabase& regdb) {
  if (keys.gc && gc && *keys.gc != *gc) {
    return fail(ErrorCode::kInvalidArgument,
                fmt::format("{} says GC {}, but --gc says {}; leave --gc out", printable(file),
                            regdb::to_string(*keys.gc), regdb::to_string(*gc)));
  }
  const std::optional<regdb::GcVersion> chosen = keys.gc ? keys.gc : gc;
  if (!chosen) {
    return fail(ErrorCode::kInvalidArgument,
                printable(file) +
                    " does not say which GC version its words come from; add a line such as "
                    "'# gc=11.0.1' or pass --gc (`gputrace decode --list` shows the versions)");
  }
  Result<regdb::RegisterMap> map = regdb.map_for(*chosen);
  if (!map) {
    return fail(map.error(), "cannot import " + printable(file));
  }
  return map;
}

}  // namespace

Result<RegisterCsvHeader> read_register_csv_header(LineReader& input,
                                                   const regdb::RegisterDatabase& regdb,
                                                   std::optional<regdb::GcVersion> gc,
                                                   const BadLines& bad_lines) {
  Keys keys;
  Line line;
  for (;;) {
    const Result<bool> more = input.next(line);
    if (!more) {
      return tl::unexpected(more.error());
    }
    if (!*more) {
      return fail(ErrorCode::kCorrupt,
                  printable(input.name()) + " ends before its row of column names (time_ns,...)");
    }
    if (line.too_long) {
      return bad_lines.fatal(line.number, {kMaxLineLength, "the line is too long"});
    }
    const std::string_view text = trimmed(line.text);
    std::optional<BadCell> bad;
    if (line.number == 1) {
      bad = check_magic(line);
    } else if (text.starts_with('#')) {
      bad = take_comment(line.text, keys);
    } else if (!text.empty()) {
      const Result<regdb::RegisterMap> map = map_of(keys, gc, input.name(), regdb);
      if (!map) {
        return tl::unexpected(map.error());
      }
      keys.header.gc = map->gc.value_or(keys.header.gc);
      keys.header.regdb_table = map->table;
      bad = take_columns(line.text, *map, keys.header);
      if (!bad) {
        return std::move(keys.header);
      }
    }
    if (bad) {
      return bad_lines.fatal(line.number, *bad);
    }
  }
}

}  // namespace gputrace::import
