#include "cli/report/json_object_writer.h"

namespace gputrace::report {

void JsonObjectWriter::member(std::string_view key, std::string_view json) {
  begin(key);
  put(at_depth(json, 1));
}

Status JsonObjectWriter::finish() {
  put(line(0) + "}\n");
  return status_;
}

void JsonObjectWriter::begin(std::string_view key) {
  put(before_member_ + line(1) + '"' + std::string(key) + (indented_ ? "\": " : "\":"));
  before_member_ = ",";
}

std::string JsonObjectWriter::line(std::size_t depth) const {
  return indented_ ? "\n" + std::string(2 * depth, ' ') : "";
}

std::string JsonObjectWriter::at_depth(std::string_view json, std::size_t depth) const {
  if (!indented_) {
    return std::string(json);
  }
  std::string moved;
  // Line ends inside of strings are escaped: each one here is of the layout.
  for (const char c : json) {
    moved += c;
    if (c == '\n') {
      moved.append(2 * depth, ' ');
    }
  }
  return moved;
}

void JsonObjectWriter::put(std::string_view text) {
  if (status_) {
    status_ = write_(text);
  }
}

}  // namespace gputrace::report
