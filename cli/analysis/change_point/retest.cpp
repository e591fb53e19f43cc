#include "cli/analysis/change_point/retest.h"

#include <algorithm>
#include <cmath>
#include <cstdint>
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
/// Sides on which a single burst weighs much.
constexpr std::size_t kShortCells = 20;

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
  left.reserve(by_strength.size());
  for (const auto& [unused, index] : by_strength) {
    left.push_back(changes[index - 1]);
  }
  std::sort(left.begin(), left.end());
  return left;
}

/// One side of a change, of each lane of the scores; noise is 1 there.
struct Side {
  std::vector<double> weight;
  std::vector<double> mean;
  std::vector<double> squares;  ///< about the mean of its inner cells
  std::size_t cells = 0;        ///< of `squares`
};

/// Asks how clearly two sides differ. Keeps its memory.
class Retest {
 public:
  Retest(const CellTable& table, const Scores& scores, const Noise& noise)
      : scores_(scores),
        side_cells_(static_cast<std::size_t>(std::max(1.0, std::ceil(kSideS / table.cell_s)))),
        prior_(scores.lanes(), 1),
        sparse_(scores.lanes()) {
    for (std::size_t c = 0; c < table.columns.size(); ++c) {
      const Column& column = table.columns[c];
      if (column.usual_samples > 0) {
        const std::size_t lane = scores.lane_of_column(c);
        const double least = 0.25 / column.usual_samples * column.inflation;
        prior_[lane] = std::max(0.5, least / (noise.sigma[c] * noise.sigma[c]));
        sparse_[lane] = noise.sparse[c];
      }
    }
  }

  double gain(std::size_t before, std::size_t change, std::size_t behind) {
    before = std::max(before, change - std::min(change, side_cells_));
    behind = std::min(behind, change + side_cells_);
    // The far cell of a side may hold a part of what is beyond it.
    const std::size_t first = change - before >= kMinCells ? before + 1 : before;
    const std::size_t last = behind - change >= kMinCells ? behind - 1 : behind;
    measure(first, change, first, change - 1, left_);
    measure(change, last, change + 1, last, right_);
    const std::vector<double> left_mean = left_.mean;
    leave_out_extreme(first, change, right_.mean, left_);
    leave_out_extreme(change, last, left_mean, right_);
    double total = 0;
    for (std::size_t lane = 0; lane < scores_.lanes(); ++lane) {
      if (left_.weight[lane] > 0 && right_.weight[lane] > 0) {
        const double step = left_.mean[lane] - right_.mean[lane];
        const double pooled =
            (left_.squares[lane] + right_.squares[lane] + kPriorCells * prior_[lane]) /
            (static_cast<double>(left_.cells + right_.cells) + kPriorCells);
        const double prior = std::max(prior_[lane], pooled);
        total += step * step /
                 (variance(left_, lane, prior) / left_.weight[lane] +
                  variance(right_, lane, prior) / right_.weight[lane]);
      }
    }
    return total;
  }

 private:
  static double variance(const Side& side, std::size_t lane, double prior) {
    return (side.squares[lane] + kPriorCells * prior) /
           (static_cast<double>(side.cells) + kPriorCells);
  }

  void measure(std::size_t first, std::size_t last, std::size_t inner_first, std::size_t inner_last,
               Side& side) const {
    if (inner_last < inner_first + kMinInnerCells) {
      inner_first = first;
      inner_last = last;
    }
    const std::size_t lanes = scores_.lanes();
    side.weight.assign(lanes, 0);
    side.mean.assign(lanes, 0);
    side.squares.assign(lanes, 0);
    side.cells = inner_last - inner_first - 1;
    for (std::size_t g = 0; g < scores_.groups().size(); ++g) {
      const Group& group = scores_.groups()[g];
      const double weight = scores_.weights(last)[g] - scores_.weights(first)[g];
      const double inner = scores_.weights(inner_last)[g] - scores_.weights(inner_first)[g];
      if (weight <= 0 || inner <= 0) {
        continue;
      }
      const std::size_t end = group.first_lane + group.lanes;
      for (std::size_t lane = group.first_lane; lane < end; ++lane) {
        side.weight[lane] = weight;
        side.mean[lane] =
            (scores_.sums(inner_last)[lane] - scores_.sums(inner_first)[lane]) / inner;
      }
      for (std::size_t cell = inner_first; cell < inner_last; ++cell) {
        const double own = scores_.weights(cell + 1)[g] - scores_.weights(cell)[g];
        if (own <= 0) {
          continue;
        }
        const double* from = scores_.sums(cell);
        const double* to = scores_.sums(cell + 1);
        for (std::size_t lane = group.first_lane; lane < end; ++lane) {
          const double deviation = to[lane] - from[lane] - own * side.mean[lane];
          side.squares[lane] += deviation * deviation / own;
        }
      }
      for (std::size_t lane = group.first_lane; lane < end; ++lane) {
        side.mean[lane] = (scores_.sums(last)[lane] - scores_.sums(first)[lane]) / weight;
      }
    }
  }

  /// Noise of units that rarely do anything is bursts, and a single one is no change: on a short
  /// side the cell that differs most from the other side's mean does not count.
  void leave_out_extreme(std::size_t first, std::size_t last, const std::vector<double>& other_mean,
                         Side& side) const {
    if (last - first > kShortCells) {
      return;
    }
    for (std::size_t g = 0; g < scores_.groups().size(); ++g) {
      const Group& group = scores_.groups()[g];
      for (std::size_t lane = group.first_lane; lane < group.first_lane + group.lanes; ++lane) {
        if (!sparse_[lane] || side.weight[lane] <= 0) {
          continue;
        }
        double worst = 0;
        double worst_weight = 0;
        double worst_sum = 0;
        for (std::size_t cell = first; cell < last; ++cell) {
          const double own = scores_.weights(cell + 1)[g] - scores_.weights(cell)[g];
          const double sum = scores_.sums(cell + 1)[lane] - scores_.sums(cell)[lane];
          const double deviation = own > 0 ? std::abs(sum / own - other_mean[lane]) : 0;
          if (deviation > worst) {
            worst = deviation;
            worst_weight = own;
            worst_sum = sum;
          }
        }
        const double left = side.weight[lane] - worst_weight;
        side.mean[lane] = left > 0 ? (side.mean[lane] * side.weight[lane] - worst_sum) / left : 0;
        side.weight[lane] = std::max(0.0, left);
      }
    }
  }

  const Scores& scores_;
  std::size_t side_cells_;
  std::vector<double> prior_;
  std::vector<bool> sparse_;
  Side left_;
  Side right_;
};

/// Absent without samples.
std::optional<double> busy_share(const Column& column, std::size_t first, std::size_t last) {
  std::uint64_t samples = 0;
  std::uint64_t busy = 0;
  for (std::size_t i = first; i < last; ++i) {
    samples += column.cells[i].samples;
    busy += column.cells[i].busy;
  }
  return samples > 0 ? std::optional(static_cast<double>(busy) / static_cast<double>(samples))
                     : std::nullopt;
}

}  // namespace

std::vector<std::size_t> drop_weak(const CellTable& table, const Scores& scores, const Noise& noise,
                                   std::size_t first, std::size_t last,
                                   const std::vector<std::size_t>& changes, double penalty) {
  Retest retest(table, scores, noise);
  return drop_below(first, last, changes, penalty,
                    [&](std::size_t before, std::size_t change, std::size_t behind) {
                      return retest.gain(before, change, behind);
                    });
}

std::vector<std::size_t> drop_small(const CellTable& table, std::size_t first, std::size_t last,
                                    const std::vector<std::size_t>& changes) {
  return drop_below(first, last, changes, kMinStep,
                    [&](std::size_t before, std::size_t change, std::size_t behind) {
                      double largest = 0;
                      for (const Column& column : table.columns) {
                        const auto left = busy_share(column, before, change);
                        const auto right = busy_share(column, change, behind);
                        if (left && right) {
                          largest = std::max(largest, std::abs(*left - *right));
                        }
                      }
                      return largest;
                    });
}

}  // namespace gputrace::analysis::change_point
