#include <doctest/doctest.h>
#include <fmt/format.h>

#include <fstream>
#include <nlohmann/json.hpp>
#include <sstream>
#include <string>
#include <vector>

#include "cli/commands/command.h"
#include "cli/commands/decode/decode_output.h"
#include "regdb/register_database.h"
#include "tests/support/golden.h"
#include "tests/support/temp_dir.h"

using namespace gputrace;
using namespace gputrace::commands;

namespace {

DecodeContext context_of(regdb::GcVersion gc) {
  auto map = regdb::RegisterDatabase::built_in().map_for(gc);
  REQUIRE(map);
  return {*std::move(map), "--gc", {}, "0123456789abcdef"};
}

std::vector<StatusWord> words_of(const DecodeContext& context,
                                 const std::vector<std::string>& texts) {
  std::vector<StatusWord> words;
  for (const std::string& text : texts) {
    auto word = parse_status_word(context.map, text);
    REQUIRE_MESSAGE(word.has_value(), word.error().message);
    words.push_back(*std::move(word));
  }
  return words;
}

std::vector<std::string> names_of(const StatusWord& word) {
  std::vector<std::string> names;
  for (const SetField& set : set_fields(word)) {
    names.push_back(set.field->kind == regdb::FieldKind::kCounter
                        ? fmt::format("{}={}", set.field->name, set.value)
                        : set.field->name);
  }
  return names;
}

const std::vector<std::string> kSample{"GRBM_STATUS=0xA0003028", "GRBM_STATUS2=0x00000008",
                                       "GRBM_STATUS_SE0=0xFFFFFFFF", "GRBM_STATUS3=0x00028100"};

}  // namespace

TEST_CASE("decode prints the set fields in words, busy ones apart") {
  const DecodeContext context = context_of({11, 0, 1});
  test::check_golden("decode_words.txt", decode_to_text(context, words_of(context, kSample)));
}

TEST_CASE("decode prints the same as JSON") {
  const DecodeContext context = context_of({11, 0, 1});
  test::check_golden("decode_words.json", decode_to_json(context, words_of(context, kSample)));
}

TEST_CASE("decode says where the GC version comes from when the user did not state it") {
  DecodeContext context = context_of({11, 0, 1});
  context.gc_source = "assumed";
  context.gc_note = "Assumed.";
  const std::string text = decode_to_text(context, {});
  CHECK(text == "GC 11.0.1 (register table 11.0.0)\nAssumed.\n");
  CHECK(nlohmann::json::parse(decode_to_json(context, {}))["gc_source"] == "assumed");
}

// Words that people logged on real parts, with what they found or corrected later.
TEST_CASE("logged words decode to the fields that their authors name") {
  struct Logged {
    const char* id;
    regdb::GcVersion gc;
    const char* text;
    std::vector<std::string> names;
    std::uint32_t unknown;
  };
  const std::vector<Logged> logged{
      {"GFX8 idle",
       {8, 0, 0},
       "GRBM_STATUS=0x00003028",
       {"ME0PIPE0_CMDFIFO_AVAIL=8", "SRBM_RQ_PENDING", "DB_CLEAN", "CB_CLEAN"},
       0},
      {"GFX8 idle",
       {8, 0, 0},
       "GRBM_STATUS2=0x00000008",
       {"ME0PIPE1_CMDFIFO_AVAIL=8", "TCC_CC_RESIDENT=0"},
       0},
      {"GFX10 after reset",
       {10, 3, 0},
       "GRBM_STATUS=0x00003028",
       {"ME0PIPE0_CMDFIFO_AVAIL=8", "DB_CLEAN", "CB_CLEAN"},
       0x20},
      {"RDNA APU, SPI hung",
       {11, 5, 0},
       "GRBM_STATUS=0xA840302C",
       {"ME0PIPE0_CMDFIFO_AVAIL=12", "DB_CLEAN", "CB_CLEAN", "SPI_BUSY", "ANY_ACTIVE", "CP_BUSY",
        "GUI_ACTIVE"},
       0x20},
      {"GFX6, CP busy",
       {6, 0, 0},
       "GRBM_STATUS=0xA0003028",
       {"ME0PIPE0_CMDFIFO_AVAIL=8", "SRBM_RQ_PENDING", "DB_CLEAN", "CB_CLEAN", "CP_BUSY",
        "GUI_ACTIVE"},
       0},
      {"GFX12 idle",
       {12, 0, 1},
       "GRBM_STATUS=0x0000382C",
       {"ME0PIPE0_CMDFIFO_AVAIL=12", "SC_CLEAN", "DB_CLEAN", "CB_CLEAN"},
       0x20}};
  for (const Logged& row : logged) {
    CAPTURE(row.id);
    const StatusWord word = words_of(context_of(row.gc), {row.text}).front();
    CHECK(names_of(word) == row.names);
    CHECK(unknown_bits(word) == row.unknown);
  }
}

TEST_CASE("all ones is an invalid read and nothing of it is decoded") {
  const DecodeContext context = context_of({10, 1, 3});
  const auto words = words_of(context, {"GRBM_STATUS=0xFFFFFFFF"});
  CHECK(is_invalid_read(words.front()));
  const std::string text = decode_to_text(context, words);
  CHECK(text.find("invalid read") != std::string::npos);
  CHECK(text.find("BUSY") == std::string::npos);
  const auto json = nlohmann::json::parse(decode_to_json(context, words))["registers"][0];
  CHECK(json["valid"] == false);
  CHECK(json["fields"].is_null());
  CHECK_FALSE(is_invalid_read(words_of(context, {"GRBM_STATUS=0xFFFFFFFE"}).front()));
}

TEST_CASE("register names are taken as people and other tools write them") {
  const DecodeContext context = context_of({11, 0, 1});
  for (const char* text :
       {"GRBM_STATUS=1", "grbm_status=0x1", "mmGRBM_STATUS=0X1", "regGRBM_STATUS=0x00000001"}) {
    CAPTURE(text);
    const auto word = parse_status_word(context.map, text);
    REQUIRE(word);
    CHECK(word->reg.name == "GRBM_STATUS");
    CHECK(word->value == 1);
  }
  CHECK(parse_status_word(context.map, "GRBM_STATUS=4294967295")->value == 0xffffffffU);
}

TEST_CASE("a word that makes no sense is a usage error that quotes it") {
  const DecodeContext context = context_of({11, 0, 1});
  for (const char* text :
       {"GRBM_STATUS", "=1", "GRBM_STATUS=", "GRBM_STATUS=0x", "GRBM_STATUS=0x100000000",
        "GRBM_STATUS=4294967296", "GRBM_STATUS=-1", "GRBM_STATUS=1x", "GRBM_STATUS= 1",
        "GRBM_STATUS=0x1 ", "RLC_STAT=1", "mm=1", "GRBM_STATUS=A0003028"}) {
    CAPTURE(text);
    const auto word = parse_status_word(context.map, text);
    REQUIRE_FALSE(word);
    CHECK(word.error().code == ErrorCode::kUsage);
  }
}

TEST_CASE("the list of tables names every version and marks what only root can read") {
  const auto regdb = regdb::RegisterDatabase::built_in();
  std::vector<ListedTable> tables;
  for (const auto& [version, table] : regdb.supported_versions()) {
    tables.push_back({{version}, *regdb.map_for_table(table)});
  }
  const std::string text = tables_to_text(tables);
  for (const auto& [version, table] : regdb.supported_versions()) {
    CHECK(text.find("GC " + version + "\n") != std::string::npos);
  }
  CHECK(text.find("GRBM_STATUS3      0x2007  15 fields, readable by root only") !=
        std::string::npos);
  CHECK(text.find("GRBM_STATUS2      0x2002  22 fields, readable without root") !=
        std::string::npos);
  const auto json = nlohmann::json::parse(tables_to_json(tables));
  CHECK(json["tables"].size() == tables.size());
  CHECK(json["tables"][0]["registers"][0]["dword_offset"] == "0x2004");
}

TEST_CASE("the list of fields has every field with kind, group and meaning") {
  const auto map = regdb::RegisterDatabase::built_in().map_for({11, 0, 1});
  test::check_golden("decode_fields.txt", fields_to_text(*map));
  const auto json = nlohmann::json::parse(fields_to_json(*map));
  CHECK(json["registers"][1]["fields"].size() == map->registers[1].fields.size());
  CHECK(json["registers"][2]["unprivileged"] == false);
}

TEST_CASE("text output fits 80 columns") {
  const DecodeContext context = context_of({11, 0, 1});
  for (const std::string& text :
       {decode_to_text(context, words_of(context, kSample)), fields_to_text(context.map)}) {
    std::istringstream lines(text);
    for (std::string line; std::getline(lines, line);) {
      CAPTURE(line);
      CHECK(line.size() <= 80);
    }
  }
}

TEST_CASE("decode refuses command lines that make no sense with usage, others with failure") {
  const auto code_of = [](const std::vector<std::string>& arguments) {
    const auto status = run_decode(arguments);
    REQUIRE_FALSE(status);
    return status.error().code;
  };
  CHECK(code_of({}) == ErrorCode::kUsage);
  CHECK(code_of({"--list", "GRBM_STATUS=1"}) == ErrorCode::kUsage);
  CHECK(code_of({"--gc", "eleven", "GRBM_STATUS=1"}) == ErrorCode::kUsage);
  CHECK(code_of({"--gc", "11.0.1", "GRBM_STATUS=zero"}) == ErrorCode::kUsage);
  CHECK(code_of({"--frob", "GRBM_STATUS=1"}) == ErrorCode::kUsage);
  CHECK(code_of({"--gc", "9.5.0", "GRBM_STATUS=1"}) == ErrorCode::kUnsupported);
  CHECK(code_of({"--list", "--gc", "9.4.4"}) == ErrorCode::kUnsupported);
  CHECK(code_of({"--regdb", "/nonexistent", "--gc", "11.0.1", "GRBM_STATUS=1"}) ==
        ErrorCode::kNotFound);
}

TEST_CASE("an overlay's words are escaped before they reach a terminal") {
  const test::TempDir folder;
  std::ofstream(folder.path() / "x.reg")
      << "field EA_BUSY busy shader\n  meaning left \xe2\x80\xae right \xff\n";
  auto regdb = regdb::RegisterDatabase::with_overlay(folder.path());
  REQUIRE(regdb);
  DecodeContext context{*regdb->map_for({11, 0, 1}), "--gc", {}, regdb->revision()};
  const auto words = words_of(context, {"GRBM_STATUS2=0x00010000"});
  const std::string text = decode_to_text(context, words);
  CHECK(text.find("\xe2\x80\xae") == std::string::npos);
  CHECK(text.find("left ") != std::string::npos);
  CHECK(nlohmann::json::accept(decode_to_json(context, words)));
}
