// docs/counters.md against the tables it describes.
#include <doctest/doctest.h>

#include <fstream>
#include <map>
#include <sstream>
#include <string>
#include <vector>

#include "regdb/register_database.h"

using namespace gputrace::regdb;

namespace {

/// Rows of the markdown table below the heading, without its head, cells trimmed.
std::vector<std::vector<std::string>> table_below(const std::string& heading) {
  std::ifstream file(GPUTRACE_COUNTERS_DOC);
  REQUIRE_MESSAGE(file.good(), "cannot read ", GPUTRACE_COUNTERS_DOC);
  std::vector<std::vector<std::string>> rows;
  bool inside = false;
  for (std::string line; std::getline(file, line);) {
    if (line.starts_with("## ")) {
      inside = line == "## " + heading;
    } else if (inside && line.starts_with("| ")) {
      std::istringstream cells(line.substr(1));
      std::vector<std::string>& row = rows.emplace_back();
      for (std::string cell; std::getline(cells, cell, '|');) {
        const std::size_t first = cell.find_first_not_of(' ');
        REQUIRE(first != std::string::npos);
        row.push_back(cell.substr(first, cell.find_last_not_of(' ') - first + 1));
      }
    }
  }
  REQUIRE(rows.size() > 1);
  rows.erase(rows.begin());
  return rows;
}

}  // namespace

TEST_CASE("docs/counters.md lists the versions and tables that there are") {
  const RegisterDatabase regdb = RegisterDatabase::built_in();
  const auto rows = table_below("Which table serves which GPU");
  REQUIRE(rows.size() == regdb.supported_versions().size());
  for (std::size_t i = 0; i < rows.size(); ++i) {
    CHECK(rows[i].at(0) == regdb.supported_versions()[i].version);
    CHECK(rows[i].at(1) == regdb.supported_versions()[i].table);
  }
}

TEST_CASE("docs/counters.md lists the registers and offsets that there are") {
  const RegisterDatabase regdb = RegisterDatabase::built_in();
  std::map<std::string, std::uint32_t> expected;
  for (const auto& [version, table] : regdb.supported_versions()) {
    const auto map = regdb.map_for_table(table);
    REQUIRE(map);
    for (const Register& reg : map->registers) {
      expected[reg.name] = reg.dword_offset;
    }
  }
  std::map<std::string, std::uint32_t> listed;
  for (const auto& row : table_below("Registers")) {
    listed[row.at(0)] = static_cast<std::uint32_t>(std::stoul(row.at(1), nullptr, 16));
  }
  CHECK(listed == expected);
}

TEST_CASE("docs/counters.md lists the kinds and groups that there are") {
  std::vector<std::string> kinds;
  for (const auto& row : table_below("Kinds of fields")) {
    kinds.push_back(row.at(0));
  }
  CHECK(kinds == std::vector<std::string>{std::string(to_string(FieldKind::kBusy)),
                                          std::string(to_string(FieldKind::kClean)),
                                          std::string(to_string(FieldKind::kRequestPending)),
                                          std::string(to_string(FieldKind::kCounter))});
  std::vector<std::string> groups;
  for (const auto& row : table_below("Groups")) {
    groups.push_back(row.at(0));
  }
  CHECK(groups == std::vector<std::string>{std::string(to_string(UnitGroup::kFrontEnd)),
                                           std::string(to_string(UnitGroup::kShader)),
                                           std::string(to_string(UnitGroup::kMemoryPath)),
                                           std::string(to_string(UnitGroup::kFixedFunction))});
}
