#include "regdb/reg_file.h"

#include <doctest/doctest.h>

#include <random>
#include <string>
#include <vector>

using namespace gputrace;
using namespace gputrace::regdb;

TEST_CASE("a register file states descriptions, tables, registers and fields") {
  const auto file = parse_reg_file("x.reg",
                                   "# comment\n"
                                   "field A_BUSY busy memory-path\r\n"
                                   "  meaning What it is.\n"
                                   "  suggests What follows.\n"
                                   "\n"
                                   "table 1.0\n"
                                   "base 0.9\n"
                                   "readable list\n"
                                   "register R 0x2004\n"
                                   "\t0..3 N_AVAIL\n"
                                   "  31   A_BUSY\n"
                                   "register S 8197 like R\n"
                                   "register T none");
  REQUIRE_MESSAGE(file.has_value(), file.error().message);
  const FieldDescription& field = file->descriptions.at("A_BUSY");
  CHECK(field.kind == FieldKind::kBusy);
  CHECK(field.group == UnitGroup::kMemoryPath);
  CHECK(field.meaning == "What it is.");
  CHECK(field.suggests == "What follows.");
  REQUIRE(file->tables.size() == 1);
  const TableStatement& table = file->tables.front();
  CHECK(table.name == "1.0");
  CHECK(table.base == "0.9");
  CHECK(table.readable == "list");
  REQUIRE(table.registers.size() == 3);
  CHECK(table.registers[0].offset == 0x2004U);
  REQUIRE(table.registers[0].fields.size() == 2);
  CHECK(table.registers[0].fields[0].bits == BitRange{0, 4});
  CHECK(table.registers[0].fields[1].bits == BitRange{31, 1});
  CHECK(table.registers[0].fields[1].place.line == 11);
  CHECK(table.registers[1].offset == 8197U);
  CHECK(table.registers[1].like == "R");
  CHECK(table.registers[2].offset == 0U);
}

TEST_CASE("versions, families, lists and columns are statements too") {
  const auto file = parse_reg_file("x.reg",
                                   "version 10.3.x 10.3\n"
                                   "family 141 0x01 0x13 9.0.1 Vega10 and more\n"
                                   "readable-list nv A B\n"
                                   "column ta 14 GRBM_STATUS TA_BUSY without tc\n"
                                   "column ee 10 GRBM_STATUS -\n");
  REQUIRE_MESSAGE(file.has_value(), file.error().message);
  CHECK(file->versions.at(0).table == "10.3");
  CHECK(file->families.at(0).last_revision == 0x13);
  CHECK(file->families.at(0).gc == GcVersion{9, 0, 1});
  CHECK(file->readable_lists.at(0).registers == std::vector<std::string>{"A", "B"});
  CHECK(file->columns.at(0).without == "tc");
  CHECK(file->columns.at(1).field.empty());
}

TEST_CASE("a version pattern matches number by number") {
  const auto matches = [](const char* pattern, GcVersion version) {
    return VersionRule{.pattern = pattern, .table = {}, .place = {}}.matches(version);
  };
  CHECK(matches("7.x", {7, 3, 0}));
  CHECK_FALSE(matches("7.x", {8, 0, 0}));
  CHECK(matches("10.1.x", {10, 1, 10}));
  CHECK_FALSE(matches("10.1.x", {10, 10, 1}));
  CHECK(matches("11.0.1", {11, 0, 1}));
  CHECK_FALSE(matches("11.0.1", {11, 0, 10}));
  CHECK_FALSE(matches("1.0.1", {11, 0, 1}));
  CHECK_FALSE(matches("11.0", {11, 0, 0}));
}

TEST_CASE("a line that makes no sense is an error with its file and line") {
  const std::vector<std::pair<std::string, std::string>> cases{
      {"nonsense\n", "x.reg:1: unknown statement 'nonsense'"},
      {"\n\nfield A busy\n", "x.reg:3: expected `field NAME KIND GROUP`"},
      {"field A lazy shader\n", "x.reg:1: 'lazy' is not a kind"},
      {"field A busy sideways\n", "x.reg:1: 'sideways' is not a group"},
      {"field A busy shader\nfield A busy shader\n", "x.reg:2: field 'A' is described twice"},
      {"meaning x\n", "x.reg:1: 'meaning' must follow a `field` line"},
      {"field A busy shader\nmeaning x\nmeaning y\n", "x.reg:3: a field has one `meaning`"},
      {"field A busy shader\nmeaning\n", "x.reg:2: a field has one `meaning`"},
      {"register R 1\n", "x.reg:1: 'register' must stand below a `table`"},
      {"readable nv\n", "x.reg:1: 'readable' stands once"},
      {"table T\nbase A\nbase B\n", "x.reg:3: 'base' stands once"},
      {"table T\nregister R 0xzz\n", "x.reg:2: '0xzz' is not an offset"},
      {"table T\nregister R 0x100000000\n", "x.reg:2: '0x100000000' is not an offset"},
      {"table T\nregister R 1 like\n", "x.reg:2: expected `like REGISTER`"},
      {"table T\nregister R 1\nregister R 2\n", "x.reg:3: register 'R' stands twice"},
      {"table T\n3 A\n", "x.reg:2: bits must stand below a `register`"},
      {"table T\nregister R 1\n32 A\n", "x.reg:3: '32' is not a bit"},
      {"table T\nregister R 1\n3..1 A\n", "x.reg:3: '3..1' is not a bit"},
      {"table T\nregister R 1\n0..3 A\n2 B\n", "x.reg:4: 'B' collides with 'A' of line 3"},
      {"table T\nregister R 1\n1 A\n2 A\n", "x.reg:4: 'A' collides with 'A' of line 3"},
      {"table T\nregister R 1 like Q\n1 A\n", "x.reg:3: a register that is like another"},
      {"table T\nregister R 1\n1 A B\n", "x.reg:3: expected `BITS FIELD`"},
      {"version 11.0.y T\n", "x.reg:1: '11.0.y' is not a version"},
      {"family 1 9 3 9.0.1 A\n", "x.reg:1: a family needs"},
      {"family 1 2 3 nine A\n", "x.reg:1: 'nine' is not a GC version"},
      {"column c 40 R F\n", "x.reg:1: '40' is not a bit"},
      {"column c 4 R F beside d\n", "x.reg:1: expected `with COLUMN`"},
      {"field A busy shader\n  meaning \x1b[31mred\n", "x.reg:2: a control character"},
      {"# \xc2\x9b\n", "x.reg:1: a control character"}};
  for (const auto& [text, message] : cases) {
    CAPTURE(text);
    const auto file = parse_reg_file("x.reg", text);
    REQUIRE_FALSE(file);
    CHECK(file.error().code == ErrorCode::kInvalidArgument);
    CHECK_MESSAGE(file.error().message.starts_with(message), file.error().message);
  }
}

TEST_CASE("no text makes the parser do more than refuse it") {
  const std::vector<std::string> pieces{"field",  "table",  "register", "like",   "0..3",
                                        "31",     " ",      "\n",       "0x2004", "none",
                                        "x",      "..",     "meaning",  "#",      "version",
                                        "family", "column", "\xff",     "-1",     "4294967296"};
  std::mt19937 random(20261129);
  std::uniform_int_distribution<std::size_t> pick(0, pieces.size() - 1);
  std::size_t refused = 0;
  for (int round = 0; round < 2000; ++round) {
    std::string text;
    for (int piece = 0; piece < 30; ++piece) {
      text += pieces[pick(random)];
    }
    const auto file = parse_reg_file("x.reg", text);
    refused += file ? 0 : 1;
    if (!file) {
      CHECK(file.error().message.starts_with("x.reg:"));
    }
  }
  CHECK(refused > 1000);
}
