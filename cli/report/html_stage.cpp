#include "cli/report/html_stage.h"

#include <algorithm>
#include <array>
#include <limits>
#include <set>
#include <span>
#include <string>
#include <tuple>

#include "cli/report/text_format.h"

namespace gputrace::report {
namespace {

// In the order of the pipeline. Other names stand behind these, by the group of their table.
constexpr std::array<std::string_view, 11> kFrontEnd{
    "GUI_ACTIVE", "gpu", "ANY_ACTIVE", "CP", "CPF", "CPC", "CPG", "CPAXI", "RLC", "SDMA", "ee"};
constexpr std::array<std::string_view, 12> kGeometry{"GE",  "GE_BUSY_NO_DMA",
                                                     "IA",  "IA_BUSY_NO_DMA",
                                                     "WD",  "WD_BUSY_NO_DMA",
                                                     "VGT", "vgt",
                                                     "PC",  "PA",
                                                     "pa",  "PH"};
constexpr std::array<std::string_view, 7> kRaster{"SC", "sc", "BCI", "DB", "db", "CB", "cb"};
constexpr std::array<std::string_view, 12> kShader{"SPI", "spi", "SX", "sx", "smx", "sh",
                                                   "GDS", "TA",  "ta", "TD", "TCP", "SEDC"};
constexpr std::array<std::string_view, 10> kMemory{"GL1CC", "GL1H", "TC", "tc",  "TCC",
                                                   "GL2CC", "CH",   "EA", "GUS", "UTCL2"};

struct StageNames {
  Stage stage;
  std::span<const std::string_view> names;
};
constexpr std::array<StageNames, 5> kStages{{{Stage::kFrontEnd, kFrontEnd},
                                             {Stage::kGeometry, kGeometry},
                                             {Stage::kRaster, kRaster},
                                             {Stage::kShader, kShader},
                                             {Stage::kMemory, kMemory}}};

/// What tells classes apart, most telling first: of an older chip its own name of the same stage.
constexpr std::array<std::string_view, 24> kKey{
    "GUI_ACTIVE", "gpu", "EA", "TC",    "tc",    "SC",  "sc", "DB",  "db",  "CB", "cb", "SPI",
    "spi",        "TA",  "ta", "GL2CC", "GL1CC", "TCP", "GE", "VGT", "vgt", "PA", "pa", "TCC"};

/// Place within its stage.
std::size_t rank_of(std::string_view name) {
  for (const StageNames& stage : kStages) {
    const auto found = std::find(stage.names.begin(), stage.names.end(), name);
    if (found != stage.names.end()) {
      return static_cast<std::size_t>(found - stage.names.begin());
    }
  }
  return std::numeric_limits<std::size_t>::max();
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
  for (const StageNames& stage : kStages) {
    if (std::find(stage.names.begin(), stage.names.end(), name) != stage.names.end()) {
      return stage.stage;
    }
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
  // A unit's copies in shader engines stand behind all whole ones of the stage.
  const auto key_of = [&unit_of](const LaneRow& row) {
    const Unit& unit = unit_of(row);
    return std::tuple(row.stage, !row.key && unit.engine.has_value(), unit.engine.value_or(0),
                      rank_of(short_name(unit.name)));
  };
  std::stable_sort(rows.begin(), rows.end(),
                   [&key_of](const LaneRow& a, const LaneRow& b) { return key_of(a) < key_of(b); });
  return rows;
}

}  // namespace gputrace::report
