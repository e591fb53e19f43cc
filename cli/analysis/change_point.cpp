#include "cli/analysis/change_point.h"

#include <algorithm>
#include <cmath>
#include <optional>
#include <span>
#include <utility>

#include "cli/analysis/change_point/angles.h"
#include "cli/analysis/change_point/cell_table.h"
#include "cli/analysis/change_point/noise.h"
#include "cli/analysis/change_point/retest.h"
#include "cli/analysis/change_point/scores.h"
#include "cli/analysis/change_point/seeded_search.h"
#include "cli/analysis/change_point/stretches.h"
#include "cli/analysis/change_point/tick_boundary.h"

namespace gputrace::analysis {
namespace {

using change_point::CellState;
using change_point::CellTable;
using change_point::kMaxIntervalCells;
using change_point::kMinCells;
using change_point::Stretch;

/// 2 hours of 100 ms: 64 units take 60 MB.
constexpr std::size_t kChunkCells = 72'000;

struct Change {
  std::size_t before = 0;  ///< cells of the table
  std::size_t cell = 0;
  std::size_t behind = 0;
  CellState state_before = CellState::kAwake;
  CellState state_behind = CellState::kAwake;

  [[nodiscard]] bool of_load() const { return state_before == state_behind; }
};

/// All changes of one chunk, in order.
std::vector<Change> search_chunk(const CellTable& table, std::size_t positions) {
  change_point::Angles angles(table);
  const change_point::Noise noise = change_point::measure_noise(table, angles);
  const change_point::Scores scores(table, noise.sigma, std::move(angles));
  const double penalty = noise.penalty(positions);
  const std::vector<Stretch> stretches = change_point::find_stretches(table.states, table.cell_s);
  std::vector<Change> found;
  for (std::size_t i = 0; i < stretches.size(); ++i) {
    const Stretch& stretch = stretches[i];
    if (i > 0) {
      found.push_back({.before = stretches[i - 1].first,
                       .cell = stretch.first,
                       .behind = stretch.last,
                       .state_before = stretches[i - 1].state,
                       .state_behind = stretch.state});
    }
    if (stretch.state != CellState::kAwake || stretch.last - stretch.first < 2 * kMinCells) {
      continue;
    }
    std::vector<std::size_t> cells =
        change_point::search(scores, stretch.first, stretch.last, penalty);
    cells =
        change_point::drop_weak(table, scores, noise, stretch.first, stretch.last, cells, penalty);
    cells = change_point::drop_small(table, stretch.first, stretch.last, cells);
    for (std::size_t c = 0; c < cells.size(); ++c) {
      found.push_back({.before = c == 0 ? stretch.first : cells[c - 1],
                       .cell = cells[c],
                       .behind = c + 1 == cells.size() ? stretch.last : cells[c + 1]});
    }
  }
  return found;
}

/// The change in the source's cells and its time.
Result<ChangePoint> place(const GridSource& source, const CellTable& table, const Change& change) {
  const auto by_ticks =
      change.of_load()
          ? change_point::place_by_ticks(source, table, change.before, change.cell, change.behind)
          : change_point::place_by_validity(source, table, change.cell,
                                            change.state_before == CellState::kAwake);
  if (!by_ticks) {
    return tl::unexpected(by_ticks.error());
  }
  const double edge = static_cast<double>(table.first + change.cell * table.factor);
  ChangePoint point;
  point.at_s = by_ticks->value_or(source.start_s() + edge * source.cell_s());
  const double cell = std::round((point.at_s - source.start_s()) / source.cell_s());
  point.cell = static_cast<std::size_t>(std::clamp(cell, 0.0, static_cast<double>(source.cells())));
  return point;
}

/// Keeps order, and leaves out what would be no stretch of its own.
void append(std::vector<ChangePoint>& points, const ChangePoint& next, std::size_t cells) {
  const std::size_t before = points.empty() ? 0 : points.back().cell;
  if (next.cell > before && next.cell < cells &&
      (points.empty() || next.at_s > points.back().at_s)) {
    points.push_back(next);
  }
}

}  // namespace

Result<std::vector<ChangePoint>> find_change_points(const GridSource& source) {
  std::vector<ChangePoint> points;
  const std::vector<std::size_t> units = change_point::searched_units(source.units());
  if (source.cells() == 0) {
    return points;
  }
  const auto factor = change_point::cell_factor(source);
  if (!factor) {
    return tl::unexpected(factor.error());
  }
  const std::size_t positions = (source.cells() + *factor - 1) / *factor;
  std::size_t first = 0;     // of the chunk, in cells of the source
  std::size_t accepted = 0;  // before this cell all is decided
  std::size_t last_change = 0;
  while (true) {
    const auto table = change_point::read_table(source, units, first, kChunkCells, *factor);
    if (!table) {
      return tl::unexpected(table.error());
    }
    const std::size_t end = first + table->cells() * *factor;
    const bool at_end = end >= source.cells();
    const std::size_t decided = at_end ? end : end - kMaxIntervalCells * *factor;
    for (const Change& change : search_chunk(*table, positions)) {
      const std::size_t cell = first + change.cell * *factor;
      if (cell < accepted || cell >= decided || cell <= last_change) {
        continue;
      }
      const auto point = place(source, *table, change);
      if (!point) {
        return tl::unexpected(point.error());
      }
      append(points, *point, source.cells());
      last_change = cell;
    }
    if (at_end) {
      return points;
    }
    accepted = decided;
    // Two intervals back at most, so that each chunk is far beyond the one before.
    first = std::max(last_change, decided - kMaxIntervalCells * *factor);
  }
}

}  // namespace gputrace::analysis
