#include "regdb/built_in_files.h"

#include <algorithm>

namespace gputrace::regdb {
namespace {

std::optional<std::string_view> find_text(std::string_view file_name) {
  for (const auto& [name, text] : embedded_reg_files()) {
    if (name == file_name) {
      return text;
    }
  }
  return std::nullopt;
}

std::optional<TableStatement> find_table(const std::string& name) {
  const std::string file_name = name + ".reg";
  if (!find_text(file_name)) {
    return std::nullopt;
  }
  RegFile file = parse_built_in(file_name);
  for (TableStatement& table : file.tables) {
    if (table.name == name) {
      return std::move(table);
    }
  }
  return std::nullopt;
}

}  // namespace

RegFile parse_built_in(std::string_view file_name) {
  const auto text = find_text(file_name);
  GPUTRACE_CHECK(text.has_value());
  Result<RegFile> file = parse_reg_file(file_name, *text);
  GPUTRACE_CHECK(file.has_value());
  return *std::move(file);
}

Result<std::vector<TableStatement>> built_in_table_chain(std::string_view table) {
  std::vector<TableStatement> chain;
  for (std::string name(table); chain.empty() || !name.empty(); name = chain.front().base) {
    auto found = find_table(name);
    if (!found) {
      return fail(ErrorCode::kNotFound, "there is no register table '" + name + "'");
    }
    chain.insert(chain.begin(), *std::move(found));
  }
  return chain;
}

std::vector<std::string> readable_registers(const std::vector<TableStatement>& table_chain) {
  std::string list_name;
  for (const TableStatement& table : table_chain) {
    list_name = table.readable.empty() ? list_name : table.readable;
  }
  RegFile file = parse_built_in("readable.reg");
  for (ReadableList& list : file.readable_lists) {
    if (list.name == list_name) {
      return std::move(list.registers);
    }
  }
  return {};
}

}  // namespace gputrace::regdb
