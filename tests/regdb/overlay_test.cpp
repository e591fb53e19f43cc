#include <doctest/doctest.h>

#include <filesystem>
#include <fstream>
#include <string>

#include "regdb/register_database.h"
#include "tests/support/temp_dir.h"

using namespace gputrace;
using namespace gputrace::regdb;

namespace {

/// A folder with one register file.
struct Overlay {
  explicit Overlay(const std::string& text) { write("mine.reg", text); }

  void write(const std::string& name, const std::string& text) const {
    std::ofstream(dir.path() / name) << text;
  }
  [[nodiscard]] Result<RegisterDatabase> open() const {
    return RegisterDatabase::with_overlay(dir.path());
  }

  test::TempDir dir;
};

const RegisterField* field_of(const RegisterMap& map, const char* reg, const char* field) {
  return map.find(reg)->find_field(field);
}

void check_refused(const std::string& text, const std::string& line, const std::string& why) {
  CAPTURE(text);
  const Overlay overlay(text);
  const auto regdb = overlay.open();
  REQUIRE_FALSE(regdb);
  CHECK(regdb.error().code == ErrorCode::kInvalidArgument);
  CHECK_MESSAGE(regdb.error().message.find("mine.reg:" + line + ": ") != std::string::npos,
                regdb.error().message);
  CHECK_MESSAGE(regdb.error().message.find(why) != std::string::npos, regdb.error().message);
}

}  // namespace

TEST_CASE("an overlay changes a meaning in every table and keeps what it does not state") {
  const Overlay overlay("field EA_BUSY busy memory-path\n  meaning The way out.\n");
  const auto regdb = overlay.open();
  REQUIRE_MESSAGE(regdb.has_value(), regdb.error().message);
  CHECK(regdb->revision() != RegisterDatabase::built_in().revision());
  for (const GcVersion gc : {GcVersion{9, 0, 1}, GcVersion{11, 0, 1}}) {
    const auto map = regdb->map_for(gc);
    REQUIRE(map);
    CHECK(field_of(*map, "GRBM_STATUS2", "EA_BUSY")->meaning == "The way out.");
    CHECK(field_of(*map, "GRBM_STATUS2", "EA_LINK_BUSY")->meaning.find("link") !=
          std::string::npos);
  }
}

TEST_CASE("a kind and a group can change without a new meaning") {
  const Overlay overlay("field TCC_CC_RESIDENT clean shader\n");
  const auto regdb = overlay.open();
  REQUIRE(regdb);
  const auto map = regdb->map_for({9, 0, 0});
  const RegisterField* const field = field_of(*map, "GRBM_STATUS2", "TCC_CC_RESIDENT");
  CHECK(field->kind == FieldKind::kClean);
  CHECK(field->group == UnitGroup::kShader);
  CHECK(field->meaning.find("MTYPE_CC") != std::string::npos);
}

TEST_CASE("fields stated for a register replace those at the same bits, in that table only") {
  const Overlay overlay(
      "field NEW_BUSY busy shader\n  meaning A corrected name.\n"
      "field HALF_AVAIL counter front-end\n  meaning Two bits of it.\n"
      "table 11.0.0\nregister GRBM_STATUS2\n  16 NEW_BUSY\n  0..1 HALF_AVAIL\n  31 CPAXI_BUSY\n");
  const auto regdb = overlay.open();
  REQUIRE_MESSAGE(regdb.has_value(), regdb.error().message);
  const auto map = regdb->map_for({11, 0, 1});
  REQUIRE(map);
  CHECK(field_of(*map, "GRBM_STATUS2", "EA_BUSY") == nullptr);
  CHECK(field_of(*map, "GRBM_STATUS2", "ME0PIPE1_CMDFIFO_AVAIL") == nullptr);
  CHECK(field_of(*map, "GRBM_STATUS2", "NEW_BUSY")->shift == 16);
  CHECK(field_of(*map, "GRBM_STATUS2", "CPAXI_BUSY")->shift == 31);
  CHECK(map->find("GRBM_STATUS2")->fields.front().name == "HALF_AVAIL");
  CHECK(field_of(*regdb->map_for({11, 0, 3}), "GRBM_STATUS2", "EA_BUSY") != nullptr);
}

TEST_CASE("a description below a table holds for that table, and for those based on it") {
  const Overlay overlay("table 11.5.0\nfield PC_BUSY busy shader\n  meaning Only here.\n");
  const auto regdb = overlay.open();
  REQUIRE_MESSAGE(regdb.has_value(), regdb.error().message);
  CHECK(field_of(*regdb->map_for({11, 5, 0}), "GRBM_STATUS_SE0", "PC_BUSY")->meaning ==
        "Only here.");
  CHECK(field_of(*regdb->map_for({11, 5, 1}), "GRBM_STATUS_SE1", "PC_BUSY")->meaning ==
        "Only here.");
  CHECK(field_of(*regdb->map_for({11, 0, 0}), "GRBM_STATUS_SE0", "PC_BUSY")->meaning !=
        "Only here.");
}

TEST_CASE("no overlay changes an address or who may read it") {
  const Overlay overlay(
      "table 11.0.0\nreadable soc21\nregister GRBM_STATUS 0x2004\n  31 GUI_ACTIVE\n"
      "register GRBM_STATUS_SE1 0x2006 like GRBM_STATUS_SE0\n");
  const auto regdb = overlay.open();
  REQUIRE_MESSAGE(regdb.has_value(), regdb.error().message);
  const RegisterDatabase built_in = RegisterDatabase::built_in();
  const auto own = built_in.map_for({11, 0, 0});
  const auto overlaid = regdb->map_for({11, 0, 0});
  REQUIRE(own);
  REQUIRE(overlaid);
  REQUIRE(own->registers.size() == overlaid->registers.size());
  for (std::size_t i = 0; i < own->registers.size(); ++i) {
    CHECK(own->registers[i].name == overlaid->registers[i].name);
    CHECK(own->registers[i].dword_offset == overlaid->registers[i].dword_offset);
    CHECK(own->registers[i].unprivileged == overlaid->registers[i].unprivileged);
  }
  check_refused("table 11.0.0\nregister GRBM_STATUS 0x2007\n", "2", "differs from the built-in");
  check_refused("table 11.0.0\nregister RLC_STAT 0x4c04\n", "2", "no register 'RLC_STAT'");
  check_refused("table 11.0.0\nreadable none\n", "1", "cannot be changed");
  check_refused("table 11.5.1\nbase 11.0.0\n", "1", "cannot be changed");
  check_refused("readable-list soc21 GRBM_STATUS3\n", "1", "belongs to the built-in tables");
  check_refused("version 9.5.0 9.4.3\n", "1", "belongs to the built-in tables");
  check_refused("family 1 2 3 9.0.0 x\n", "1", "belongs to the built-in tables");
  check_refused("column gpu 31 GRBM_STATUS GUI_ACTIVE\n", "1", "belongs to the built-in tables");
}

TEST_CASE("what an overlay misspells is refused with file and line") {
  check_refused("table 13.0.0\nregister GRBM_STATUS\n", "1", "no register table '13.0.0'");
  check_refused("\n# a comment\nfield EA_BUSSY busy shader\n", "3", "no register has a field");
  check_refused("table 9.0\nfield TCP_BUSY busy shader\n  meaning x\n", "2",
                "no register has a field 'TCP_BUSY'");
  check_refused("table 9.0\nregister GRBM_STATUS\n  3 NEW_BUSY\n", "3", "is not described");
  check_refused("field NEW_BUSY busy shader\ntable 9.0\nregister GRBM_STATUS\n  3 NEW_BUSY\n", "4",
                "is not described");
  check_refused("table 9.0\nregister GRBM_STATUS_SE0 like GRBM_STATUS_SE9\n", "2",
                "no register 'GRBM_STATUS_SE9'");
}

TEST_CASE("a missing folder, one without register files and an unreadable file are errors") {
  const auto missing = RegisterDatabase::with_overlay("/nonexistent/regdb");
  REQUIRE_FALSE(missing);
  CHECK(missing.error().code == ErrorCode::kNotFound);
  CHECK(missing.error().message.find("/nonexistent/regdb") != std::string::npos);

  const test::TempDir empty;
  std::ofstream(empty.path() / "notes.txt") << "field\n";
  const auto none = RegisterDatabase::with_overlay(empty.path());
  REQUIRE_FALSE(none);
  CHECK(none.error().code == ErrorCode::kNotFound);

  std::filesystem::create_directory(empty.path() / "folder.reg");
  CHECK_FALSE(RegisterDatabase::with_overlay(empty.path()));

  const Overlay huge(std::string((1U << 20U) + 1, '#'));
  const auto refused = huge.open();
  REQUIRE_FALSE(refused);
  CHECK(refused.error().message.find("1 MiB") != std::string::npos);
}

TEST_CASE("of two files the later by name wins") {
  const Overlay overlay("field EA_BUSY busy shader\n  meaning Second.\n");
  overlay.write("a.reg", "field EA_BUSY busy shader\n  meaning First.\n");
  const auto regdb = overlay.open();
  REQUIRE(regdb);
  CHECK(field_of(*regdb->map_for({11, 0, 0}), "GRBM_STATUS2", "EA_BUSY")->meaning == "Second.");
}
