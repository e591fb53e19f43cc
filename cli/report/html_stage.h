// Where units stand in the time line: stages of the pipeline, and the few that a reader sees first.
#pragma once

#include <cstddef>
#include <string_view>
#include <vector>

#include "cli/report/report.h"

namespace gputrace::report {

enum class Stage { kFrontEnd, kGeometry, kRaster, kShader, kMemory };
/// "Front end", "Cache, memory".
[[nodiscard]] std::string_view to_string(Stage stage);
[[nodiscard]] Stage stage_of(const Unit& unit);

inline constexpr std::size_t kKeyUnits = 12;

struct LaneRow {
  std::size_t row = 0;  ///< index into Timeline::rows
  Stage stage = Stage::kFrontEnd;
  bool key = false;  ///< shown before the reader asks for all; at most kKeyUnits are
};
/// By stage, and within one in the timeline's order.
[[nodiscard]] std::vector<LaneRow> lane_rows(const Report& report);

}  // namespace gputrace::report
