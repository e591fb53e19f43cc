#include "cli/analysis/change_point/seeded_search.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <iterator>
#include <numbers>
#include <set>

namespace gputrace::analysis::change_point {
namespace {

/// A side with less says too little of a group: its reads failed there.
constexpr double kMinWeight = 1.5;
/// Times that each boundary is placed anew between its neighbours.
constexpr int kPlacings = 2;

/// What a split at `cell` of an interval explains: for each group
/// W / (Wl Wr) * |Sl - Wl/W S|^2, S and W sums of weighted scores and of weights.
double gain(const Scores& scores, std::size_t first, std::size_t cell, std::size_t last) {
  const double* begin = scores.sums(first);
  const double* middle = scores.sums(cell);
  const double* end = scores.sums(last);
  double total = 0;
  for (std::size_t g = 0; g < scores.groups().size(); ++g) {
    const Group& group = scores.groups()[g];
    const double before = scores.weights(cell)[g] - scores.weights(first)[g];
    const double all = scores.weights(last)[g] - scores.weights(first)[g];
    const double behind = all - before;
    if (before < kMinWeight || behind < kMinWeight) {
      continue;
    }
    const double share = before / all;
    std::array<double, kLanes> squares{};
    const std::size_t lanes_end = group.first_lane + group.lanes;
    for (std::size_t lane = group.first_lane; lane < lanes_end; lane += kLanes) {
      for (std::size_t i = 0; i < kLanes; ++i) {
        const double start = begin[lane + i];
        const double step = middle[lane + i] - start - share * (end[lane + i] - start);
        squares[i] += step * step;
      }
    }
    total += all / (before * behind) * ((squares[0] + squares[1]) + (squares[2] + squares[3]));
  }
  return total;
}

/// Lengths of the intervals, shortest first: each is the next one's by the root of two.
std::vector<std::size_t> interval_lengths(std::size_t cells) {
  std::vector<std::size_t> lengths;
  double length = static_cast<double>(std::min(cells, kMaxIntervalCells));
  while (length >= 2.0 * kMinCells) {
    const auto whole = static_cast<std::size_t>(length);
    if (lengths.empty() || lengths.back() != whole) {
      lengths.push_back(whole);
    }
    length /= std::numbers::sqrt2;
  }
  if (!lengths.empty() && lengths.back() != 2 * kMinCells) {
    lengths.push_back(2 * kMinCells);
  }
  std::reverse(lengths.begin(), lengths.end());
  return lengths;
}

class Boundaries {
 public:
  [[nodiscard]] bool inside(std::size_t first, std::size_t last) const {
    const auto next = cells_.upper_bound(first);
    return next != cells_.end() && *next < last;
  }
  void add(std::size_t cell) { cells_.insert(cell); }
  [[nodiscard]] std::vector<std::size_t> in_order() const { return {cells_.begin(), cells_.end()}; }

 private:
  std::set<std::size_t> cells_;
};

struct Candidate {
  std::size_t first = 0;
  std::size_t last = 0;
  Split split;
};

/// All intervals of one length that no change cuts; the clearest change first.
void search_length(const Scores& scores, std::size_t first, std::size_t last, std::size_t length,
                   double penalty, Boundaries& boundaries) {
  std::vector<Candidate> candidates;
  const std::size_t shift = std::max<std::size_t>(1, length / 2);
  for (std::size_t begin = first;; begin += shift) {
    begin = std::min(begin, last - length);  // the last one ends with the stretch
    if (!boundaries.inside(begin, begin + length)) {
      const auto split = best_split(scores, begin, begin + length);
      if (split && split->gain > penalty) {
        candidates.push_back({begin, begin + length, *split});
      }
    }
    if (begin + length == last) {
      break;
    }
  }
  std::stable_sort(
      candidates.begin(), candidates.end(),
      [](const Candidate& a, const Candidate& b) { return a.split.gain > b.split.gain; });
  for (const Candidate& candidate : candidates) {
    if (!boundaries.inside(candidate.first, candidate.last)) {
      boundaries.add(candidate.split.cell);
    }
  }
}

/// A narrow interval finds a change, a wide one places it.
void place_between_neighbours(const Scores& scores, std::size_t first, std::size_t last,
                              std::vector<std::size_t>& cells) {
  for (int placing = 0; placing < kPlacings; ++placing) {
    for (std::size_t i = 0; i < cells.size(); ++i) {
      const std::size_t before = i == 0 ? first : cells[i - 1];
      const std::size_t behind = i + 1 == cells.size() ? last : cells[i + 1];
      if (const auto split = best_split(scores, before, behind)) {
        cells[i] = split->cell;
      }
    }
  }
}

}  // namespace

std::optional<Split> best_split(const Scores& scores, std::size_t first, std::size_t last) {
  std::optional<Split> best;
  for (std::size_t cell = first + kMinCells; cell + kMinCells <= last; ++cell) {
    const double here = gain(scores, first, cell, last);
    if (here > 0 && (!best || here > best->gain)) {
      best = Split{.cell = cell, .gain = here};
    }
  }
  return best;
}

std::vector<std::size_t> search(const Scores& scores, std::size_t first, std::size_t last,
                                double penalty) {
  Boundaries boundaries;
  for (const std::size_t length : interval_lengths(last - first)) {
    search_length(scores, first, last, length, penalty, boundaries);
  }
  std::vector<std::size_t> cells = boundaries.in_order();
  place_between_neighbours(scores, first, last, cells);
  return cells;
}

}  // namespace gputrace::analysis::change_point
