#include "cli/report/html_stage.h"

#include <algorithm>
#include <array>
#include <set>
#include <span>
#include <string>

#include "cli/report/text_format.h"

namespace gputrace::report {
namespace {

using Names = std::span<const std::string_view>;

// regdb/units.reg has the same order; register tables group by what an interval needs, not by this.
constexpr std::array<std::string_view, 12> kGeometry{"GE",  "GE_BUSY_NO_DMA",
                                                     "IA",  "IA_BUSY_NO_DMA",
                                                     "WD",  "WD_BUSY_NO_DMA",
                                                     "VGT", "PA",
                                                     "PH",  "PC",
                                                     "vgt", "pa"};
constexpr std::array<std::string_view, 8> kRaster{"SC", "BCI", "DB", "CB",
                                                  "sc", "db",  "cb", "DB_CB"};
constexpr std::array<std::string_view, 9> kShader{"SPI", "SX",  "GDS", "TA", "TD",
                                                  "TCP", "spi", "sx",  "ta"};

/// What tells classes apart, most telling first: of an older chip its own name of the same stage.
constexpr std::array<std::string_view, 24> kKey{
    "GUI_ACTIVE", "gpu", "EA", "TC",    "tc",    "SC",  "sc", "DB",  "db",  "CB", "cb", "SPI",
    "spi",        "TA",  "ta", "GL2CC", "GL1CC", "TCP", "GE", "VGT", "vgt", "PA", "pa", "TCC"};

bool is_among(Names names, std::string_view name) {
  return std::find(names.begin(), names.end(), name) != names.end();
}

}  // namespace

std::string_view to_string(Stage stage) {
  switch (stage) {
    case Stage::kFrontEnd:
      return "Front end";
    case Stage::kGeometry:
      return "Geometry";
    case Stage::kRaster:
      return "Raster";
    case Stage::kShader:
      return "Shader";
    case Stage::kMemory:
      return "Cache, memory";
  }
  return "";
}

Stage stage_of(const Unit& unit) {
  const std::string_view name = short_name(unit.name);
  if (is_among(kGeometry, name)) {
    return Stage::kGeometry;
  }
  if (is_among(kRaster, name)) {
    return Stage::kRaster;
  }
  if (is_among(kShader, name)) {
    return Stage::kShader;
  }
  switch (unit.group) {
    case regdb::UnitGroup::kFrontEnd:
      return Stage::kFrontEnd;
    case regdb::UnitGroup::kShader:
      return Stage::kShader;
    case regdb::UnitGroup::kMemoryPath:
      return Stage::kMemory;
    case regdb::UnitGroup::kFixedFunction:
      return Stage::kRaster;
  }
  return Stage::kFrontEnd;
}

std::vector<LaneRow> lane_rows(const Report& report) {
  std::vector<LaneRow> rows;
  if (!report.timeline) {
    return rows;
  }
  const auto unit_of = [&report](const LaneRow& row) -> const Unit& {
    return report.units[report.timeline->rows[row.row].unit];
  };
  for (std::size_t row = 0; row < report.timeline->rows.size(); ++row) {
    if (report.timeline->rows[row].unit < report.units.size()) {
      rows.push_back({row, stage_of(report.units[report.timeline->rows[row].unit]), false});
    }
  }
  std::size_t chosen = 0;
  std::set<std::string, std::less<>> taken;
  const auto take = [&](LaneRow& row) {
    row.key = true;
    taken.emplace(short_name(unit_of(row).name));
    ++chosen;
  };
  for (const std::string_view name : kKey) {
    // Of a unit that only shader engines have, the first engine's stands for all.
    for (const bool of_engine : {false, true}) {
      for (LaneRow& row : rows) {
        const Unit& unit = unit_of(row);
        if (chosen < kKeyUnits && unit.engine.has_value() == of_engine &&
            short_name(unit.name) == name && !taken.contains(name)) {
          take(row);
        }
      }
    }
  }
  for (LaneRow& row : rows) {
    if (chosen < kKeyUnits && !row.key && !unit_of(row).engine &&
        !taken.contains(short_name(unit_of(row).name))) {
      take(row);
    }
  }
  std::stable_sort(rows.begin(), rows.end(),
                   [](const LaneRow& a, const LaneRow& b) { return a.stage < b.stage; });
  return rows;
}

}  // namespace gputrace::report
