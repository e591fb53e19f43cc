// Judges found changes by what is known only with them: the noise of their own two sides, and how
// far any unit moved.
#pragma once

#include <cstddef>
#include <vector>

#include "cli/analysis/change_point/cell_table.h"
#include "cli/analysis/change_point/noise.h"
#include "cli/analysis/change_point/scores.h"

namespace gputrace::analysis::change_point {

/// A change moves some unit by this much.
inline constexpr double kMinStep = 0.05;

/// What is left of `changes` (in order, between the cells first and last - 1) when the weakest is
/// dropped again and again while its gain is below the penalty.
[[nodiscard]] std::vector<std::size_t> drop_weak(const CellTable& table, const Scores& scores,
                                                 const Noise& noise, std::size_t first,
                                                 std::size_t last,
                                                 const std::vector<std::size_t>& changes,
                                                 double penalty);

/// The same while no unit moves by kMinStep.
[[nodiscard]] std::vector<std::size_t> drop_small(const CellTable& table, std::size_t first,
                                                  std::size_t last,
                                                  const std::vector<std::size_t>& changes);

}  // namespace gputrace::analysis::change_point
