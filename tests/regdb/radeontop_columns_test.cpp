#include <doctest/doctest.h>

#include <string>
#include <vector>

#include "regdb/register_database.h"

using namespace gputrace::regdb;

namespace {

const std::vector<std::string> kUsualColumns{"gpu", "ee", "vgt", "ta", "sx", "sh",
                                             "spi", "sc", "pa",  "db", "cb"};

RegisterDatabase::ColumnMatch match(GcVersion gc, const std::string& column,
                                    std::vector<std::string> columns = kUsualColumns) {
  const auto matches = RegisterDatabase::built_in().match_radeontop_columns(gc, columns);
  REQUIRE(matches);
  REQUIRE(matches->size() == columns.size());
  for (const auto& candidate : *matches) {
    if (candidate.column == column) {
      return candidate;
    }
  }
  FAIL("no answer for column ", column);
  return {};
}

}  // namespace

TEST_CASE("the radeontop table has one unreadable register with a busy bit for every column") {
  const auto map = RegisterDatabase::built_in().map_for_table("radeontop");
  REQUIRE(map);
  REQUIRE(map->registers.size() == 1);
  const Register& reg = map->registers.front();
  CHECK(reg.name == "radeontop");
  CHECK(reg.dword_offset == 0);
  CHECK_FALSE(reg.unprivileged);
  CHECK(reg.fields.size() == 16);
  for (const char* column : {"gpu", "ee", "vgt", "ta", "tc", "sx", "sh", "spi", "smx", "sc", "pa",
                             "db", "cr", "cb", "uvd", "vce0"}) {
    CAPTURE(column);
    const RegisterField* const field = reg.find_field(column);
    REQUIRE(field != nullptr);
    CHECK(field->kind == FieldKind::kBusy);
    CHECK_FALSE(field->meaning.empty());
  }
}

TEST_CASE("columns whose bit is the same unit on the GPU name its field") {
  for (const GcVersion gc : {GcVersion{8, 0, 0}, GcVersion{10, 3, 0}, GcVersion{12, 0, 0}}) {
    CAPTURE(to_string(gc));
    CHECK(match(gc, "gpu").field == "GUI_ACTIVE");
    CHECK(match(gc, "ta").field == "TA_BUSY");
    CHECK(match(gc, "spi").field == "SPI_BUSY");
    CHECK(match(gc, "cb").field == "CB_BUSY");
    CHECK(match(gc, "cb").register_name == "GRBM_STATUS");
    CHECK(match(gc, "cb").reason.empty());
  }
}

TEST_CASE("columns that are another unit there have no field but say what they are") {
  const auto sh = match({10, 3, 0}, "sh");
  CHECK(sh.field.empty());
  CHECK(sh.register_name.empty());
  CHECK(sh.reason == "is bit 21 of GRBM_STATUS, which holds GE_BUSY there");
  CHECK(match({8, 0, 0}, "vgt").reason ==
        "is bits 16 to 17 of GRBM_STATUS, which holds WD_BUSY_NO_DMA and VGT_BUSY there");
  CHECK(match({11, 0, 0}, "ee").reason == "is bit 10 of GRBM_STATUS, which has no field there");
  CHECK(match({8, 0, 0}, "uvd", {"gpu", "uvd"}).reason ==
        "comes from SRBM_STATUS, not from GRBM_STATUS");
  CHECK(match({8, 0, 0}, "mclk", {"mclk"}).reason == "is not a column that radeontop has");
}

// radeontop takes a card that it does not know for an R600 and says so only on its standard error.
TEST_CASE("in dumps of cards that radeontop does not know, ta is another bit") {
  const std::vector<std::string> columns{"gpu", "ta", "tc", "smx", "cr", "cb"};
  CHECK(match({9, 0, 1}, "ta", columns).reason ==
        "is bit 18 of GRBM_STATUS, which holds IA_BUSY_NO_DMA there");
  CHECK(match({9, 0, 1}, "cb", columns).field == "CB_BUSY");
}

TEST_CASE("columns of a GPU without a table are an error") {
  const std::vector<std::string> columns{"gpu"};
  CHECK_FALSE(RegisterDatabase::built_in().match_radeontop_columns({9, 5, 0}, columns));
}
