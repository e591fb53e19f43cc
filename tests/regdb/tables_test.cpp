// The facts of the built-in tables.
#include <doctest/doctest.h>

#include <algorithm>
#include <set>
#include <string>
#include <vector>

#include "regdb/register_database.h"
#include "tests/regdb/expected_registers.h"

using namespace gputrace::regdb;
using gputrace::test::ExpectedRegister;
using gputrace::test::kExpectedRegisters;

namespace {

std::vector<RegisterMap> all_maps() {
  const RegisterDatabase regdb = RegisterDatabase::built_in();
  std::set<std::string> tables;
  for (const auto& [version, table] : regdb.supported_versions()) {
    tables.insert(table);
  }
  std::vector<RegisterMap> maps;
  for (const std::string& table : tables) {
    const auto map = regdb.map_for_table(table);
    REQUIRE_MESSAGE(map.has_value(), map.error().message);
    maps.push_back(*map);
  }
  return maps;
}

std::uint32_t digest(const Register& reg) {
  std::string text;
  for (const RegisterField& field : reg.fields) {
    text +=
        std::to_string(field.shift) + "," + std::to_string(field.width) + "," + field.name + ";";
  }
  std::uint32_t hash = 0x811c9dc5U;
  for (const char c : text) {
    hash = (hash ^ static_cast<unsigned char>(c)) * 0x01000193U;
  }
  return hash;
}

std::uint32_t mask_of(const Register& reg, FieldKind kind) {
  std::uint32_t mask = 0;
  for (const RegisterField& field : reg.fields) {
    mask |= field.kind == kind ? field.mask() : 0;
  }
  return mask;
}

bool is_shader_engine(const Register& reg) {
  return reg.name.starts_with("GRBM_STATUS_SE");
}

}  // namespace

TEST_CASE("every table has the registers, fields and offsets of the kernel's headers") {
  const RegisterDatabase regdb = RegisterDatabase::built_in();
  for (const ExpectedRegister& expected : kExpectedRegisters) {
    CAPTURE(expected.table);
    CAPTURE(expected.name);
    const auto map = regdb.map_for_table(expected.table);
    REQUIRE(map);
    const Register* const reg = map->find(expected.name);
    REQUIRE(reg != nullptr);
    CHECK(reg->dword_offset == expected.dword_offset);
    CHECK(reg->fields.size() == expected.fields);
    CHECK(mask_of(*reg, FieldKind::kBusy) == expected.busy_mask);
    CHECK(digest(*reg) == expected.digest);
  }
}

TEST_CASE("no table has a register beyond those headers, but for the engines of GC 11.5.1") {
  for (const RegisterMap& map : all_maps()) {
    CAPTURE(map.table);
    const bool derived = map.table == "11.5.1";
    for (const Register& reg : map.registers) {
      CAPTURE(reg.name);
      const bool expected = std::any_of(
          kExpectedRegisters.begin(), kExpectedRegisters.end(), [&](const ExpectedRegister& row) {
            return row.table == (derived ? "11.5.0" : map.table) && row.name == reg.name;
          });
      CHECK((expected || (derived && is_shader_engine(reg))));
    }
  }
}

TEST_CASE("fields lie within 32 bits, in order, and do not overlap") {
  for (const RegisterMap& map : all_maps()) {
    CAPTURE(map.table);
    for (const Register& reg : map.registers) {
      CAPTURE(reg.name);
      unsigned next_free = 0;
      for (const RegisterField& field : reg.fields) {
        CAPTURE(field.name);
        CHECK(field.shift >= next_free);
        next_free = static_cast<unsigned>(field.shift) + field.width;
      }
      CHECK(next_free <= 32);
      CHECK_FALSE(reg.fields.empty());
    }
  }
}

TEST_CASE("every field says in one line what it means, and its kind fits its name") {
  for (const RegisterMap& map : all_maps()) {
    for (const Register& reg : map.registers) {
      for (const RegisterField& field : reg.fields) {
        CAPTURE(field.name);
        CHECK_FALSE(field.meaning.empty());
        CHECK(field.meaning.size() + field.suggests.size() < 200);
        const bool counter = field.name.ends_with("_AVAIL") || field.name.ends_with("_RESIDENT");
        CHECK((field.kind == FieldKind::kCounter) == counter);
        CHECK((field.kind == FieldKind::kClean) == field.name.ends_with("_CLEAN"));
        CHECK((field.kind == FieldKind::kRequestPending) == field.name.ends_with("_PENDING"));
        CHECK((field.kind == FieldKind::kBusy || field.suggests.empty()));
        CHECK((field.width == 1 || field.kind == FieldKind::kCounter));
      }
    }
  }
}

// Words logged on idle parts: GFX6 to GFX10, and GFX12.
TEST_CASE("the words of an idle GPU have no busy bit in any table") {
  for (const RegisterMap& map : all_maps()) {
    CAPTURE(map.table);
    const Register* const status = map.find("GRBM_STATUS");
    const Register* const status2 = map.find("GRBM_STATUS2");
    REQUIRE(status != nullptr);
    REQUIRE(status2 != nullptr);
    const std::uint32_t idle = map.table == "12.0.0" ? 0x0000382CU : 0x00003028U;
    CHECK((idle & mask_of(*status, FieldKind::kBusy)) == 0);
    CHECK((0x00000008U & mask_of(*status2, FieldKind::kBusy)) == 0);
  }
}

TEST_CASE("the kernel lets an unprivileged process read STATUS, STATUS2 and SE0 to SE3, no more") {
  const std::set<std::string> listed{"GRBM_STATUS",     "GRBM_STATUS2",    "GRBM_STATUS_SE0",
                                     "GRBM_STATUS_SE1", "GRBM_STATUS_SE2", "GRBM_STATUS_SE3"};
  for (const RegisterMap& map : all_maps()) {
    for (const Register& reg : map.registers) {
      CAPTURE(map.table);
      CAPTURE(reg.name);
      CHECK(reg.unprivileged == listed.contains(reg.name));
    }
  }
}

TEST_CASE("the same register has the same address on every GPU") {
  std::set<std::pair<std::string, std::uint32_t>> places;
  for (const RegisterMap& map : all_maps()) {
    for (const Register& reg : map.registers) {
      places.emplace(reg.name, reg.dword_offset);
    }
  }
  const std::set<std::pair<std::string, std::uint32_t>> expected{
      {"GRBM_STATUS", 0x2004},     {"GRBM_STATUS2", 0x2002},    {"GRBM_STATUS3", 0x2007},
      {"GRBM_STATUS_SE0", 0x2005}, {"GRBM_STATUS_SE1", 0x2006}, {"GRBM_STATUS_SE2", 0x200e},
      {"GRBM_STATUS_SE3", 0x200f}, {"GRBM_STATUS_SE4", 0x2010}, {"GRBM_STATUS_SE5", 0x2011}};
  CHECK(places == expected);
}

TEST_CASE("known bits are where hardware documents and other tools have them") {
  const RegisterDatabase regdb = RegisterDatabase::built_in();
  const auto shift = [&](GcVersion gc, const char* reg, const char* field) {
    const auto map = regdb.map_for(gc);
    REQUIRE(map);
    const RegisterField* const found = map->find(reg)->find_field(field);
    return found == nullptr ? -1 : static_cast<int>(found->shift);
  };
  CHECK(shift({11, 0, 1}, "GRBM_STATUS2", "EA_BUSY") == 16);
  CHECK(shift({11, 0, 1}, "GRBM_STATUS2", "TCP_BUSY") == 27);
  CHECK(shift({10, 1, 10}, "GRBM_STATUS2", "TCP_BUSY") == 25);
  CHECK(shift({10, 3, 0}, "GRBM_STATUS2", "TCP_BUSY") == 27);
  CHECK(shift({9, 0, 1}, "GRBM_STATUS2", "TC_BUSY") == 25);
  CHECK(shift({6, 0, 0}, "GRBM_STATUS2", "TC_BUSY") == 9);
  CHECK(shift({6, 0, 0}, "GRBM_STATUS2", "CPF_BUSY") == -1);
  CHECK(shift({11, 0, 1}, "GRBM_STATUS3", "GL2CC_BUSY") == 15);
  CHECK(shift({11, 0, 1}, "GRBM_STATUS_SE0", "PC_BUSY") == 7);
  CHECK(shift({12, 0, 1}, "GRBM_STATUS_SE0", "GL1XCC_BUSY") == 6);
  CHECK(shift({9, 4, 2}, "GRBM_STATUS_SE3", "TA_BUSY_SE7") == 3);
  CHECK(shift({9, 4, 3}, "GRBM_STATUS2", "CANE_BUSY") == 21);
}

TEST_CASE("the shader engines of GC 11.5.1 have the fields of 11.5.0's first one") {
  const RegisterDatabase regdb = RegisterDatabase::built_in();
  const auto narrow = regdb.map_for(GcVersion{11, 5, 0});
  const auto wide = regdb.map_for(GcVersion{11, 5, 2});
  REQUIRE(narrow);
  REQUIRE(wide);
  CHECK(narrow->find("GRBM_STATUS_SE1") == nullptr);
  const Register* const first = narrow->find("GRBM_STATUS_SE0");
  for (const char* name : {"GRBM_STATUS_SE0", "GRBM_STATUS_SE1", "GRBM_STATUS_SE5"}) {
    CAPTURE(name);
    const Register* const reg = wide->find(name);
    REQUIRE(reg != nullptr);
    CHECK(digest(*reg) == digest(*first));
  }
  CHECK(digest(*wide->find("GRBM_STATUS3")) == digest(*narrow->find("GRBM_STATUS3")));
}
