#include "cli/analysis/change_point/stretches.h"

#include <algorithm>
#include <cmath>

namespace gputrace::analysis::change_point {
namespace {

constexpr double kMinHoleS = 1;
/// The daemon looks every 100 ms whether a device sleeps, so one cell may be half of each.
constexpr double kMinSleepS = 0.2;

void append(std::vector<Stretch>& stretches, const Stretch& next) {
  if (!stretches.empty() && stretches.back().state == next.state) {
    stretches.back().last = next.last;
  } else {
    stretches.push_back(next);
  }
}

/// Joins stretches of which `is_short` is true to the one before them, at the start to the next.
template <typename Predicate>
std::vector<Stretch> join_short(const std::vector<Stretch>& stretches, Predicate is_short) {
  std::vector<Stretch> joined;
  for (std::size_t i = 0; i < stretches.size(); ++i) {
    Stretch next = stretches[i];
    if (is_short(next)) {
      if (!joined.empty()) {
        next.state = joined.back().state;
      } else if (i + 1 < stretches.size()) {
        next.state = stretches[i + 1].state;
      }
    }
    append(joined, next);
  }
  return joined;
}

}  // namespace

std::vector<Stretch> find_stretches(std::span<const CellState> states, double cell_s) {
  std::vector<Stretch> stretches;
  for (std::size_t i = 0; i < states.size(); ++i) {
    append(stretches, {.first = i, .last = i + 1, .state = states[i]});
  }
  const auto cells = [&](double seconds) {
    return static_cast<std::size_t>(std::max(1.0, std::ceil(seconds / cell_s - 1e-9)));
  };
  const std::size_t hole = cells(kMinHoleS);
  const std::size_t sleep = cells(kMinSleepS);
  stretches = join_short(stretches, [&](const Stretch& stretch) {
    return stretch.state == CellState::kNothingKnown && stretch.last - stretch.first < hole;
  });
  return join_short(stretches, [&](const Stretch& stretch) {
    return stretch.state != CellState::kNothingKnown && stretch.last - stretch.first < sleep;
  });
}

}  // namespace gputrace::analysis::change_point
