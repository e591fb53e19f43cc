#include "cli/import/csv_cells.h"

#include "cli/import/text.h"

namespace gputrace::import {

namespace {

/// Reads a quoted cell; `at` is behind its first quote, and afterwards behind its last one.
std::optional<BadCell> read_quoted(std::string_view line, std::size_t& at, std::string& text) {
  const std::size_t begin = at;
  for (; at < line.size(); ++at) {
    if (line[at] != '"') {
      text += line[at];
    } else if (at + 1 < line.size() && line[at + 1] == '"') {
      text += line[++at];
    } else {
      ++at;
      return std::nullopt;
    }
  }
  return BadCell{begin, "this quote is not closed on its line"};
}

}  // namespace

std::optional<BadCell> split_csv(std::string_view line, std::vector<CsvCell>& cells,
                                 std::size_t& count) {
  while (!line.empty() && line.back() == '\r') {
    line.remove_suffix(1);
  }
  count = 0;
  for (std::size_t at = 0;;) {
    if (count == cells.size()) {
      cells.emplace_back();
    }
    CsvCell& cell = cells[count++];
    cell.text.clear();
    while (at < line.size() && (line[at] == ' ' || line[at] == '\t')) {
      ++at;
    }
    cell.column = at + 1;
    std::size_t end = 0;
    if (at < line.size() && line[at] == '"') {
      ++at;
      if (auto bad = read_quoted(line, at, cell.text)) {
        return bad;
      }
      end = line.find(',', at);
      if (!trimmed(line.substr(at, end - at)).empty()) {
        return BadCell{at + 1, "text behind a quoted value"};
      }
    } else {
      end = line.find(',', at);
      cell.text = trimmed(line.substr(at, end == std::string_view::npos ? end : end - at));
    }
    if (end == std::string_view::npos) {
      return std::nullopt;
    }
    at = end + 1;
  }
}

}  // namespace gputrace::import
