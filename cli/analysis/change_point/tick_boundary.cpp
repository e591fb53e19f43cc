#include "cli/analysis/change_point/tick_boundary.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <vector>

namespace gputrace::analysis::change_point {
namespace {

/// Cells on either side of a change in which it may be.
constexpr double kReachCells = 2;
/// Cells of a side from which its busy shares are taken, beside the change.
constexpr std::size_t kSideCells = 600;
/// A side's busy shares are taken without its first and last cell, which may hold a part of the
/// neighbour, if as many are left.
constexpr std::size_t kMinInnerCells = 1;

double edge_s(const GridSource& source, const CellTable& table, double cell) {
  return source.start_s() + static_cast<double>(table.first) * source.cell_s() +
         cell * table.cell_s;
}

/// What a sample of a unit says: its log-likelihood before the change less that behind it.
/// Samples are correlated: those of a unit whose noise is g times that of independent ones count
/// one g-th.
struct Evidence {
  std::size_t unit = 0;
  std::array<double, 3> of{};  ///< unknown, idle, busy
};

/// Bits of units change at random, so the sum is made without a branch.
double evidence_of(const Tick& tick, const std::vector<Evidence>& evidence) {
  std::array<double, 4> sums{};  // one alone would wait for itself
  for (std::size_t i = 0; i < evidence.size(); ++i) {
    const Evidence& unit = evidence[i];
    const std::uint64_t valid = tick.valid >> unit.unit & 1U;
    sums[i % sums.size()] += unit.of[valid + (valid & tick.busy >> unit.unit)];
  }
  return (sums[0] + sums[1]) + (sums[2] + sums[3]);
}

std::optional<double> share(const Column& column, std::size_t first, std::size_t last) {
  if (last - first >= kMinInnerCells + 2) {
    ++first;
    --last;
  }
  std::uint64_t samples = 0;
  std::uint64_t busy = 0;
  for (std::size_t i = first; i < last; ++i) {
    samples += column.cells[i].samples;
    busy += column.cells[i].busy;
  }
  if (samples == 0) {
    return std::nullopt;
  }
  return (static_cast<double>(busy) + 0.5) / static_cast<double>(samples + 1);
}

}  // namespace

Result<std::optional<double>> place_by_ticks(const GridSource& source, const CellTable& table,
                                             std::size_t before, std::size_t cell,
                                             std::size_t behind) {
  const double at = static_cast<double>(cell);
  const double from = std::max(at - kReachCells, (static_cast<double>(before) + at) / 2);
  const double to = std::min(at + kReachCells, (static_cast<double>(behind) + at) / 2);
  const auto ticks = source.ticks(edge_s(source, table, from), edge_s(source, table, to));
  if (!ticks) {
    return tl::unexpected(ticks.error());
  }
  if (ticks->empty()) {
    return std::nullopt;
  }
  std::vector<Evidence> evidence;
  evidence.reserve(table.columns.size());
  const std::size_t left_first = std::max(before, cell - std::min(cell, kSideCells));
  const std::size_t right_last = std::min(behind, cell + kSideCells);
  for (const Column& column : table.columns) {
    const auto left = share(column, left_first, cell);
    const auto right = share(column, cell, right_last);
    if (left && right) {
      evidence.push_back({.unit = column.unit,
                          .of = {0, std::log((1 - *left) / (1 - *right)) / column.inflation,
                                 std::log(*left / *right) / column.inflation}});
    }
  }
  double sum = 0;
  double best = 0;
  double best_s = ticks->front().at_s;  // the change is before all of them
  for (std::size_t i = 0; i < ticks->size(); ++i) {
    const Tick& tick = (*ticks)[i];
    sum += evidence_of(tick, evidence);
    if (sum > best) {
      best = sum;
      best_s = i + 1 < ticks->size() ? (*ticks)[i + 1].at_s : tick.at_s;
    }
  }
  return best_s;
}

Result<std::optional<double>> place_by_validity(const GridSource& source, const CellTable& table,
                                                std::size_t cell, bool valid_before) {
  const double at = static_cast<double>(cell);
  const auto ticks = source.ticks(edge_s(source, table, at - kReachCells),
                                  edge_s(source, table, at + kReachCells));
  if (!ticks) {
    return tl::unexpected(ticks.error());
  }
  // The split at which most ticks are on the right side; a single lost one does not move it.
  std::ptrdiff_t sum = 0;
  std::ptrdiff_t best = 0;
  std::optional<double> best_s;
  for (const Tick& tick : *ticks) {
    if (!best_s) {
      best_s = tick.at_s;
    }
    sum += (tick.valid != 0) == valid_before ? 1 : -1;
    if (sum > best) {
      best = sum;
      best_s = std::nextafter(tick.at_s, HUGE_VAL);
    }
  }
  return best_s;
}

}  // namespace gputrace::analysis::change_point
