#include "cli/import/radeontop_dump.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "cli/import/radeontop_line.h"
#include "cli/import/text.h"

namespace gputrace::import {

namespace {

/// What every version of radeontop prints (dump.c); other columns depend on the chip.
constexpr std::array<std::string_view, 11> kAlwaysThere = {"gpu", "ee", "vgt", "ta", "sx", "sh",
                                                           "spi", "sc", "pa",  "db", "cb"};
constexpr std::string_view kMessage = "Dumping to ";
constexpr std::size_t kMaxMessages = 8;

class DumpCollector {
 public:
  explicit DumpCollector(RadeontopDump& dump) : dump_(dump) {}

  [[nodiscard]] bool is_message(const Line& line);
  /// What is wrong with the line, or nothing when it was taken.
  [[nodiscard]] std::optional<BadCell> take(const Line& line);

 private:
  [[nodiscard]] std::optional<BadCell> check_columns(std::size_t line_length) const;
  [[nodiscard]] std::optional<BadCell> check_bus_and_time() const;

  RadeontopDump& dump_;
  DumpLine line_;
  std::size_t messages_ = 0;
};

bool DumpCollector::is_message(const Line& line) {
  if (line.text.starts_with(kMessage)) {
    return true;  // again where a second run was appended
  }
  const bool printable_text = std::none_of(line.text.begin(), line.text.end(), [](char c) {
    return static_cast<unsigned char>(c) < ' ' && c != '\t' && c != '\r';
  });
  const bool like_data = (line.text.front() >= '0' && line.text.front() <= '9') ||
                         line.text.find("%, ") != std::string_view::npos;
  if (!dump_.times_ns.empty() || line.too_long || !printable_text || like_data) {
    return false;
  }
  return ++messages_ <= kMaxMessages;
}

std::optional<BadCell> DumpCollector::check_columns(std::size_t line_length) const {
  const auto has = [this](std::string_view name) {
    return std::any_of(line_.busy.begin(), line_.busy.end(),
                       [name](const DumpColumn& column) { return column.name == name; });
  };
  for (const std::string_view name : kAlwaysThere) {
    if (!has(name)) {
      return BadCell{line_length + 1, fmt::format("the line has no column '{}'", name)};
    }
  }
  if (dump_.times_ns.empty()) {
    return std::nullopt;
  }
  for (std::size_t i = 0; i < line_.busy.size(); ++i) {
    if (i >= dump_.columns.size() || line_.busy[i].name != dump_.columns[i]) {
      return BadCell{
          line_.busy[i].offset + 1,
          fmt::format("column {} where the first line has {}", excerpt(line_.busy[i].name),
                      i < dump_.columns.size() ? excerpt(dump_.columns[i]) : "none")};
    }
  }
  if (line_.busy.size() < dump_.columns.size()) {
    return BadCell{line_length + 1,
                   "the line has no column " + excerpt(dump_.columns[line_.busy.size()])};
  }
  return std::nullopt;
}

std::optional<BadCell> DumpCollector::check_bus_and_time() const {
  if (dump_.times_ns.empty()) {
    return std::nullopt;
  }
  if (line_.bus != dump_.bus) {
    return BadCell{1, "another GPU than in the lines before (PCI bus); a session has one"};
  }
  const std::int64_t last = dump_.times_ns.back();
  if (line_.realtime_ns == last) {
    return BadCell{1, "the time of the line before repeats"};
  }
  if (line_.realtime_ns < last) {
    return BadCell{1, fmt::format("time runs backwards, by {:.6f} s",
                                  static_cast<double>(last - line_.realtime_ns) * 1e-9)};
  }
  return std::nullopt;
}

std::optional<BadCell> DumpCollector::take(const Line& line) {
  if (line.too_long) {
    return BadCell{kMaxLineLength, "the line is too long"};
  }
  std::optional<BadCell> bad = parse_dump_line(line.text, line_);
  if (!bad) {
    bad = check_columns(line.text.size());
  }
  if (!bad) {
    bad = check_bus_and_time();
  }
  if (bad) {
    if (!line.terminated) {
      bad->what += " (the file ends in this line)";
    }
    return bad;
  }
  if (dump_.times_ns.empty()) {
    dump_.bus = line_.bus;
    for (const DumpColumn& column : line_.busy) {
      dump_.columns.emplace_back(column.name);
    }
  }
  dump_.times_ns.push_back(line_.realtime_ns);
  for (const DumpColumn& column : line_.busy) {
    dump_.percentages.push_back(column.percent);
  }
  for (const std::string_view name : line_.quantity) {
    if (std::find(dump_.quantities.begin(), dump_.quantities.end(), name) ==
        dump_.quantities.end()) {
      dump_.quantities.emplace_back(name);
    }
  }
  return std::nullopt;
}

}  // namespace

Result<RadeontopDump> read_radeontop_dump(LineReader& input, BadLines& bad_lines) {
  RadeontopDump dump;
  DumpCollector collector(dump);
  Line line;
  for (;;) {
    const Result<bool> more = input.next(line);
    if (!more) {
      return tl::unexpected(more.error());
    }
    if (!*more) {
      return dump;
    }
    if (line.number == 1) {
      line.text = without_byte_order_mark(line.text);
    }
    if (trimmed(line.text).empty() || collector.is_message(line)) {
      continue;
    }
    if (const auto bad = collector.take(line)) {
      if (const Status status = bad_lines.add(line.number, *bad); !status) {
        return tl::unexpected(status.error());
      }
    }
  }
}

}  // namespace gputrace::import
