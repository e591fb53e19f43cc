#include "regdb/register_database.h"

#include <doctest/doctest.h>

#include <map>
#include <string>
#include <vector>

using namespace gputrace;
using namespace gputrace::regdb;

TEST_CASE("each supported version has its table") {
  const std::map<std::string, std::string> expected{
      {"6.0.0", "6.0"},     {"7.0.0", "7.2"},     {"7.1.0", "7.2"},     {"7.2.0", "7.2"},
      {"7.3.0", "7.2"},     {"8.0.0", "8.0"},     {"8.0.3", "8.0"},     {"8.1.0", "8.1"},
      {"9.0.0", "9.0"},     {"9.0.1", "9.0"},     {"9.1.0", "9.1"},     {"9.2.1", "9.2.1"},
      {"9.2.2", "9.2.1"},   {"9.3.0", "9.0"},     {"9.4.0", "9.0"},     {"9.4.1", "9.0"},
      {"9.4.2", "9.4.2"},   {"9.4.3", "9.4.3"},   {"10.1.1", "10.1"},   {"10.1.10", "10.1"},
      {"10.3.0", "10.3"},   {"10.3.7", "10.3"},   {"11.0.0", "11.0.0"}, {"11.0.1", "11.0.0"},
      {"11.0.2", "11.0.0"}, {"11.0.3", "11.0.3"}, {"11.0.4", "11.0.0"}, {"11.5.0", "11.5.0"},
      {"11.5.1", "11.5.1"}, {"11.5.2", "11.5.1"}, {"11.5.3", "11.5.1"}, {"12.0.0", "12.0.0"},
      {"12.0.1", "12.0.0"}};
  const RegisterDatabase regdb = RegisterDatabase::built_in();
  for (const auto& [text, table] : expected) {
    CAPTURE(text);
    const auto map = regdb.map_for(*parse_gc_version(text));
    REQUIRE(map);
    CHECK(map->table == table);
    CHECK(map->gc == *parse_gc_version(text));
  }
}

TEST_CASE("versions without a table are refused by name, with the known ones") {
  const RegisterDatabase regdb = RegisterDatabase::built_in();
  for (const char* text : {"9.4.4", "9.5.0", "9.2.0", "10.2.0", "11.0.5", "11.5.4", "12.1.0",
                           "5.0.0", "8.2.0", "13.0.0", "1.0.1", "6.1.0"}) {
    CAPTURE(text);
    const auto map = regdb.map_for(*parse_gc_version(text));
    REQUIRE_FALSE(map);
    CHECK(map.error().code == ErrorCode::kUnsupported);
    CHECK(map.error().message.find(text) != std::string::npos);
    CHECK(map.error().message.find("10.3.x") != std::string::npos);
  }
}

TEST_CASE("a table can be had by its own name, other names are not found") {
  const RegisterDatabase regdb = RegisterDatabase::built_in();
  const auto map = regdb.map_for_table("11.0.0");
  REQUIRE(map);
  CHECK_FALSE(map->gc);
  CHECK(map->find("GRBM_STATUS3") != nullptr);
  for (const char* name : {"", "units", "versions", "11.0.1", "../11.0.0", "11.0.0.reg"}) {
    CAPTURE(name);
    const auto missing = regdb.map_for_table(name);
    REQUIRE_FALSE(missing);
    CHECK(missing.error().code == ErrorCode::kNotFound);
  }
}

TEST_CASE("the list of versions and map_for agree") {
  const RegisterDatabase regdb = RegisterDatabase::built_in();
  CHECK(regdb.supported_versions().size() == 27);
  for (const auto& [pattern, table] : regdb.supported_versions()) {
    CAPTURE(pattern);
    std::string text = pattern == "7.x" ? "7.2.0" : pattern;
    if (text.ends_with('x')) {
      text.back() = '0';
    }
    const auto map = regdb.map_for(*parse_gc_version(text));
    REQUIRE(map);
    CHECK(map->table == table);
  }
}

TEST_CASE("fields and registers are found by name, bits are taken out of a word") {
  const auto map = RegisterDatabase::built_in().map_for(GcVersion{11, 0, 1});
  REQUIRE(map);
  CHECK(map->find("GRBM_STATUS4") == nullptr);
  const Register* const status = map->find("GRBM_STATUS");
  REQUIRE(status != nullptr);
  CHECK(status->find_field("NO_SUCH") == nullptr);
  const RegisterField* const room = status->find_field("ME0PIPE0_CMDFIFO_AVAIL");
  REQUIRE(room != nullptr);
  CHECK(room->mask() == 0xfU);
  CHECK(room->extract(0xA0003028U) == 8);
  CHECK(status->find_field("GUI_ACTIVE")->extract(0xA0003028U) == 1);
  RegisterField whole_word;
  whole_word.width = 32;
  CHECK(whole_word.mask() == 0xffffffffU);
}

TEST_CASE("two databases of the same tables have the same revision") {
  const std::string revision = RegisterDatabase::built_in().revision();
  CHECK(revision.size() == 16);
  CHECK(revision == RegisterDatabase::built_in().revision());
}

TEST_CASE("GPUs without IP discovery get their version from family and external revision") {
  struct Chip {
    const char* name;
    std::uint32_t family;
    std::uint32_t external_rev;
    GcVersion gc;
  };
  // First and last revision of a range, where they exist in the driver.
  const std::vector<Chip> chips{
      {"Tahiti A0", 110, 0x01, {6, 0, 0}},  {"Hainan", 110, 0x46, {6, 0, 0}},
      {"Bonaire", 120, 0x14, {7, 2, 0}},    {"Hawaii", 120, 0x28, {7, 3, 0}},
      {"Kaveri", 125, 0x41, {7, 1, 0}},     {"Mullins", 125, 0xa1, {7, 2, 0}},
      {"Topaz", 130, 0x01, {8, 0, 0}},      {"Polaris10", 130, 0x50, {8, 0, 0}},
      {"Vega M", 130, 0x6e, {8, 0, 0}},     {"Carrizo", 135, 0x01, {8, 0, 0}},
      {"Stoney", 135, 0x61, {8, 1, 0}},     {"Vega10", 141, 0x01, {9, 0, 1}},
      {"Vega10", 141, 0x13, {9, 0, 1}},     {"Vega12", 141, 0x14, {9, 2, 1}},
      {"Vega20", 141, 0x28, {9, 4, 0}},     {"Arcturus", 141, 0x32, {9, 4, 1}},
      {"Aldebaran", 141, 0x3c, {9, 4, 2}},  {"Raven", 142, 0x01, {9, 1, 0}},
      {"Picasso", 142, 0x41, {9, 1, 0}},    {"Raven2", 142, 0x81, {9, 2, 2}},
      {"Renoir", 142, 0x91, {9, 3, 0}},     {"Cezanne", 142, 0xa1, {9, 3, 0}},
      {"Navi10", 143, 0x01, {10, 1, 10}},   {"Navi12", 143, 0x0a, {10, 1, 2}},
      {"Navi14", 143, 0x14, {10, 1, 1}},    {"Navi21", 143, 0x28, {10, 3, 0}},
      {"Navi24", 143, 0x46, {10, 3, 5}},    {"Van Gogh", 144, 0x01, {10, 3, 1}},
      {"Rembrandt", 146, 0x20, {10, 3, 3}}, {"Cyan Skillfish", 143, 0x82, {10, 1, 3}}};
  const RegisterDatabase regdb = RegisterDatabase::built_in();
  for (const Chip& chip : chips) {
    CAPTURE(chip.name);
    const auto gc = regdb.gc_from_family(chip.family, chip.external_rev);
    REQUIRE(gc);
    CHECK(*gc == chip.gc);
    CHECK(regdb.map_for(*gc));
  }
}

TEST_CASE("families and revisions that say nothing sure are refused with both numbers") {
  const RegisterDatabase regdb = RegisterDatabase::built_in();
  // 141/0x46 is 9.4.3, 9.4.4 or 9.5.0; 130/0x28 lies in a gap.
  const std::vector<std::pair<std::uint32_t, std::uint32_t>> unknown{
      {141, 0x46}, {141, 0x50}, {130, 0x28}, {120, 0x01}, {0, 0}, {152, 1}, {110, 0x100}};
  for (const auto& [family, external_rev] : unknown) {
    const auto gc = regdb.gc_from_family(family, external_rev);
    REQUIRE_FALSE(gc);
    CHECK(gc.error().code == ErrorCode::kUnsupported);
    CHECK(gc.error().message.find(std::to_string(family)) != std::string::npos);
    CHECK(gc.error().message.find(std::to_string(external_rev)) != std::string::npos);
  }
}
