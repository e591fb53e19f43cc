#include "daemon/simulated_gpu/register_words.h"

#include <doctest/doctest.h>

#include "daemon/simulated_gpu/random.h"
#include "regdb/register_database.h"
#include "tests/support/error_text.h"

namespace gputrace::test {
namespace {

using namespace simulated_gpu;

const regdb::RegisterDatabase& database() {
  static const regdb::RegisterDatabase kDatabase = regdb::RegisterDatabase::built_in();
  return kDatabase;
}

regdb::RegisterMap map_of(const std::string& table) {
  const auto map = database().map_for_table(table);
  REQUIRE_MESSAGE(map.has_value(), error_text(map));
  return *map;
}

bool is_set(const regdb::Register& reg, std::string_view field, std::uint32_t word) {
  const regdb::RegisterField* found = reg.find_field(field);
  REQUIRE(found != nullptr);
  return found->extract(word) != 0;
}

TEST_CASE("idle words are those of the kernel logs") {
  for (const char* table : {"6.0", "8.0", "10.1", "10.3", "11.0.0"}) {
    CAPTURE(table);
    const regdb::RegisterMap map = map_of(table);
    CHECK(RegisterWords(*map.find("GRBM_STATUS")).word(0) == 0x00003028);
  }
  const regdb::RegisterMap gc11 = map_of("11.0.0");
  CHECK(RegisterWords(*gc11.find("GRBM_STATUS2")).word(0) == 0x00000008);
  CHECK(RegisterWords(*gc11.find("GRBM_STATUS3")).word(0) == 0);
}

TEST_CASE("an idle word decodes to nothing busy on every GC version") {
  for (const auto& supported : database().supported_versions()) {
    CAPTURE(supported.table);
    for (const regdb::Register& reg : map_of(supported.table).registers) {
      const std::uint32_t word = RegisterWords(reg).idle_word();
      for (const regdb::RegisterField& field : reg.fields) {
        CHECK_FALSE((field.kind == regdb::FieldKind::kBusy && field.extract(word) != 0));
      }
    }
  }
}

TEST_CASE("each unit sets its own busy bit, and DB and CB unset their clean bits") {
  const regdb::RegisterMap map = map_of("11.0.0");
  for (const regdb::Register& reg : map.registers) {
    const RegisterWords words(reg);
    for (const regdb::RegisterField& field : reg.fields) {
      const auto unit = unit_of_field(field.name);
      if (!unit) {
        continue;
      }
      CAPTURE(field.name);
      CHECK(is_set(reg, field.name, words.word(bit_of(*unit))));
      CHECK_FALSE(is_set(reg, field.name, words.word(0xffffffU & ~bit_of(*unit))));
    }
  }
  const regdb::Register& status = *map.find("GRBM_STATUS");
  const RegisterWords words(status);
  CHECK(is_set(status, "DB_CLEAN", words.word(bit_of(Unit::kCb))));
  CHECK_FALSE(is_set(status, "DB_CLEAN", words.word(bit_of(Unit::kDb))));
  CHECK_FALSE(is_set(status, "CB_CLEAN", words.word(bit_of(Unit::kCb))));
}

TEST_CASE("registers of one state agree with each other") {
  const regdb::RegisterMap map = map_of("11.0.0");
  const regdb::Register& status = *map.find("GRBM_STATUS");
  const regdb::Register& engine = *map.find("GRBM_STATUS_SE0");
  const RegisterWords status_words(status);
  const RegisterWords engine_words(engine);
  Random random(1);
  for (int i = 0; i < 1000; ++i) {
    const auto state = static_cast<UnitMask>(random.uniform() * (1U << kUnitCount));
    for (const char* field :
         {"PA_BUSY", "TA_BUSY", "SX_BUSY", "SPI_BUSY", "SC_BUSY", "DB_BUSY", "CB_BUSY"}) {
      CHECK(is_set(status, field, status_words.word(state)) ==
            is_set(engine, field, engine_words.word(state)));
    }
    const std::uint32_t word = status_words.word(state);
    CHECK(is_set(status, "ANY_ACTIVE", word) == is_set(status, "GUI_ACTIVE", word));
    CHECK(is_set(status, "GE_BUSY_NO_DMA", word) == is_set(status, "GE_BUSY", word));
  }
}

TEST_CASE("a field that the model does not know stays idle") {
  CHECK_FALSE(unit_of_field("RLC_BUSY").has_value());
  CHECK_FALSE(unit_of_field("").has_value());
  const regdb::RegisterMap map = map_of("11.0.0");
  const regdb::Register& reg = *map.find("GRBM_STATUS2");
  CHECK_FALSE(is_set(reg, "RLC_BUSY", RegisterWords(reg).word(0xffffff)));
}

}  // namespace
}  // namespace gputrace::test
