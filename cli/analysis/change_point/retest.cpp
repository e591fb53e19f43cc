#include "cli/analysis/change_point/retest.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <optional>
#include <set>
#include <utility>

namespace gputrace::analysis::change_point {
namespace {

/// So much of a side is looked at: beyond it a load may have wandered.
constexpr double kSideS = 60;
/// Cells that the usual noise counts for beside a side's own.
constexpr double kPriorCells = 10;
/// A side's noise is measured without its first and last cell, which may hold a part of the
/// neighbour, if as many are left.
constexpr std::size_t kMinInnerCells = 3;

/// Removes the change with the lowest strength until all reach `least`. `strength(before, change,
/// behind)` is asked for again where a neighbour went.
template <typename Strength>
std::vector<std::size_t> drop_below(std::size_t first, std::size_t last,
                                    const std::vector<std::size_t>& changes, double least,
                                    Strength strength) {
  struct Link {
    std::size_t before = 0;
    std::size_t behind = 0;
    double strength = 0;
  };
  const std::size_t count = changes.size();
  std::vector<Link> links(count);
  const auto cell = [&](std::size_t index) {  // 0 and count + 1 are the ends
    return index == 0 ? first : index > count ? last : changes[index - 1];
  };
  std::set<std::pair<double, std::size_t>> by_strength;
  const auto measure = [&](std::size_t index) {
    Link& link = links[index - 1];
    link.strength = strength(cell(link.before), cell(index), cell(link.behind));
    by_strength.insert({link.strength, index});
  };
  for (std::size_t index = 1; index <= count; ++index) {
    links[index - 1] = {.before = index - 1, .behind = index + 1};
    measure(index);
  }
  while (!by_strength.empty() && by_strength.begin()->first < least) {
    const std::size_t gone = by_strength.begin()->second;
    by_strength.erase(by_strength.begin());
    const Link link = links[gone - 1];
    for (const std::size_t index : {link.before, link.behind}) {
      if (index == 0 || index > count) {
        continue;
      }
      Link& neighbour = links[index - 1];
      by_strength.erase({neighbour.strength, index});
      (index == link.before ? neighbour.behind : neighbour.before) =
          index == link.before ? link.behind : link.before;
      measure(index);
    }
  }
  std::vector<std::size_t> left;
  for (const auto& [unused, index] : by_strength) {
    left.push_back(changes[index - 1]);
  }
  std::sort(left.begin(), left.end());
  return left;
}

struct Side {
  double weight = 0;
  double mean = 0;
  double variance = 0;  ///< of a usual cell
};

/// Of the cells of one column; a usual cell weighs 1. Absent if none says anything.
std::optional<Side> side_of(const Column& column, std::size_t first, std::size_t last,
                            double prior_variance) {
  Side side;
  for (std::size_t i = first; i < last; ++i) {
    const CellCounts& cell = column.cells[i];
    if (cell.samples > 0) {
      const double weight = cell.samples / column.usual_samples;
      side.weight += weight;
      side.mean += weight * arcsine(cell.busy, cell.samples);
    }
  }
  if (side.weight <= 0) {
    return std::nullopt;
  }
  side.mean /= side.weight;
  if (last - first >= kMinInnerCells + 2) {
    ++first;
    --last;
  }
  double weights = 0;
  double sum = 0;
  double squares = 0;
  double cells = 0;
  for (std::size_t i = first; i < last; ++i) {
    const CellCounts& cell = column.cells[i];
    if (cell.samples > 0) {
      const double weight = cell.samples / column.usual_samples;
      const double y = arcsine(cell.busy, cell.samples) - side.mean;
      weights += weight;
      sum += weight * y;
      squares += weight * y * y;
      cells += 1;
    }
  }
  const double scatter = weights > 0 ? std::max(0.0, squares - sum * sum / weights) : 0;
  side.variance =
      (scatter + kPriorCells * prior_variance) / (std::max(0.0, cells - 1) + kPriorCells);
  return side;
}

struct Busy {
  double samples = 0;
  double busy = 0;
};

Busy busy_of(const Column& column, std::size_t first, std::size_t last) {
  Busy sum;
  for (std::size_t i = first; i < last; ++i) {
    sum.samples += column.cells[i].samples;
    sum.busy += column.cells[i].busy;
  }
  return sum;
}

}  // namespace

std::vector<std::size_t> drop_weak(const CellTable& table, const Noise& noise, std::size_t first,
                                   std::size_t last, std::vector<std::size_t> changes,
                                   double penalty) {
  const auto side_cells = static_cast<std::size_t>(std::max(1.0, std::ceil(kSideS / table.cell_s)));
  std::vector<double> prior(table.columns.size());
  for (std::size_t c = 0; c < table.columns.size(); ++c) {
    const Column& column = table.columns[c];
    const double least =
        column.usual_samples > 0 ? 0.25 / column.usual_samples * column.inflation : 0;
    prior[c] = std::max(noise.sigma[c] * noise.sigma[c] / 2, least);
  }
  return drop_below(first, last, changes, penalty,
                    [&](std::size_t before, std::size_t change, std::size_t behind) {
                      before = std::max(before, change - std::min(change, side_cells));
                      behind = std::min(behind, change + side_cells);
                      double gain = 0;
                      for (std::size_t c = 0; c < table.columns.size(); ++c) {
                        const auto left = side_of(table.columns[c], before, change, prior[c]);
                        const auto right = side_of(table.columns[c], change, behind, prior[c]);
                        if (left && right) {
                          const double step = left->mean - right->mean;
                          gain += step * step /
                                  (left->variance / left->weight + right->variance / right->weight);
                        }
                      }
                      return gain;
                    });
}

std::vector<std::size_t> drop_small(const CellTable& table, std::size_t first, std::size_t last,
                                    std::vector<std::size_t> changes) {
  return drop_below(first, last, changes, kMinStep,
                    [&](std::size_t before, std::size_t change, std::size_t behind) {
                      double largest = 0;
                      for (const Column& column : table.columns) {
                        const Busy left = busy_of(column, before, change);
                        const Busy right = busy_of(column, change, behind);
                        if (left.samples > 0 && right.samples > 0) {
                          largest = std::max(largest, std::abs(left.busy / left.samples -
                                                               right.busy / right.samples));
                        }
                      }
                      return largest;
                    });
}

}  // namespace gputrace::analysis::change_point
