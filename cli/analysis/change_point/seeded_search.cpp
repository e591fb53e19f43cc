#include "cli/analysis/change_point/seeded_search.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <iterator>
#include <set>
#include <utility>

namespace gputrace::analysis::change_point {
namespace {

/// A side with less says too little of a group: its reads failed there.
constexpr double kMinWeight = 1.5;
/// Intervals up to this length stand more closely: in them each cell decides.
constexpr std::size_t kShortInterval = 8;
/// Splits of a long interval that are looked at first, and by how much closer ones follow.
constexpr std::size_t kCoarseSplits = 8;
constexpr std::size_t kRefinement = 8;
/// A split that misses a change by half a step explains more than this share of what the change
/// does, and without a change the best of an interval explains less than this share of the penalty.
constexpr double kHopefulShare = 0.5;

using Lanes [[gnu::vector_size(16)]] = double;

inline Lanes load(const double* from) {
  Lanes lanes;
  std::memcpy(&lanes, from, sizeof lanes);
  return lanes;
}

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
    Lanes squares{};
    Lanes other_squares{};
    const std::size_t lanes_end = group.first_lane + group.lanes;
    const auto step = [&](std::size_t lane) {
      const Lanes start = load(begin + lane);
      return load(middle + lane) - start - share * (load(end + lane) - start);
    };
    for (std::size_t lane = group.first_lane; lane < lanes_end; lane += kLanes) {
      const Lanes one = step(lane);
      const Lanes other = step(lane + kLanes / 2);
      squares += one * one;
      other_squares += other * other;
    }
    squares += other_squares;
    total += all / (before * behind) * (squares[0] + squares[1]);
  }
  return total;
}

/// The best split among every `step`-th one and then, if it may reach `least` there, all beside it.
std::optional<Split> refined_split(const Scores& scores, std::size_t first, std::size_t last,
                                   std::size_t step, double least) {
  if (last - first < 2 * kMinCells) {
    return std::nullopt;
  }
  const std::size_t begin = first + kMinCells;
  const std::size_t end = last - kMinCells;
  Split best;
  const auto ask = [&](std::size_t from, std::size_t to, std::size_t by) {
    for (std::size_t cell = from; cell <= to; cell += by) {
      const double here = gain(scores, first, cell, last);
      if (here > best.gain) {
        best = {.cell = cell, .gain = here};
      }
    }
  };
  ask(begin, end, step);
  if ((end - begin) % step != 0) {
    ask(end, end, 1);
  }
  while (step > 1 && best.gain > kHopefulShare * least) {
    const std::size_t reach = std::exchange(step, (step + kRefinement - 1) / kRefinement);
    ask(std::max(begin, best.cell - std::min(best.cell, reach)), std::min(end, best.cell + reach),
        step);
  }
  return best.gain > 0 ? std::optional(best) : std::nullopt;
}

/// For intervals of which a shorter one shows a change near their ends: what a long one explains
/// changes slowly with the split elsewhere.
std::optional<Split> quick_split(const Scores& scores, std::size_t first, std::size_t last,
                                 double least) {
  return refined_split(scores, first, last,
                       std::max<std::size_t>(1, (last - first) / kCoarseSplits), least);
}

/// Lengths of the intervals, shortest first: each is half of the next one.
std::vector<std::size_t> interval_lengths(std::size_t cells) {
  std::vector<std::size_t> lengths;
  double length = static_cast<double>(std::min(cells, kMaxIntervalCells));
  while (length >= 2.0 * kMinCells) {
    const auto whole = static_cast<std::size_t>(length);
    if (lengths.empty() || lengths.back() != whole) {
      lengths.push_back(whole);
    }
    length /= 2;
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
  const std::size_t shift =
      length <= kShortInterval ? std::max<std::size_t>(1, length / 4) : length / 2;
  for (std::size_t begin = first;; begin += shift) {
    begin = std::min(begin, last - length);  // the last one ends with the stretch
    if (!boundaries.inside(begin, begin + length)) {
      const auto split = quick_split(scores, begin, begin + length, penalty);
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

/// Beside a change that was found no seeded interval may begin where the next one needs it: so
/// those are asked that begin or end with the stretches between changes, narrowest first.
std::optional<std::size_t> search_from_ends(const Scores& scores, std::size_t first,
                                            std::size_t last, double penalty) {
  for (const std::size_t length : interval_lengths(last - first)) {
    const auto at_start = quick_split(scores, first, first + length, penalty);
    const auto at_end = quick_split(scores, last - length, last, penalty);
    const auto& better =
        !at_end || (at_start && at_start->gain >= at_end->gain) ? at_start : at_end;
    if (better && better->gain > penalty) {
      return better->cell;
    }
  }
  return std::nullopt;
}

void complete(const Scores& scores, std::size_t first, std::size_t last, double penalty,
              Boundaries& boundaries) {
  struct Span {
    std::size_t first = 0;
    std::size_t last = 0;
  };
  std::vector<Span> open;
  std::size_t begin = first;
  for (const std::size_t cell : boundaries.in_order()) {
    open.push_back({begin, cell});
    begin = cell;
  }
  if (begin == first) {
    return;  // no change: all was seen from the ends already
  }
  open.push_back({begin, last});
  while (!open.empty()) {
    const Span span = open.back();
    open.pop_back();
    if (const auto cell = search_from_ends(scores, span.first, span.last, penalty)) {
      boundaries.add(*cell);
      open.push_back({span.first, *cell});
      open.push_back({*cell, span.last});
    }
  }
}

/// A narrow interval finds a change, a wide one places it.
void place_between_neighbours(const Scores& scores, std::size_t first, std::size_t last,
                              std::vector<std::size_t>& cells) {
  for (std::size_t i = 0; i < cells.size(); ++i) {
    const std::size_t before = i == 0 ? first : cells[i - 1];
    const std::size_t behind = i + 1 == cells.size() ? last : cells[i + 1];
    if (const auto split = quick_split(scores, before, behind, 0)) {
      cells[i] = split->cell;
    }
  }
}

}  // namespace

std::optional<Split> best_split(const Scores& scores, std::size_t first, std::size_t last) {
  return refined_split(scores, first, last, 1, 0);
}

std::vector<std::size_t> search(const Scores& scores, std::size_t first, std::size_t last,
                                double penalty) {
  Boundaries boundaries;
  for (const std::size_t length : interval_lengths(last - first)) {
    search_length(scores, first, last, length, penalty, boundaries);
  }
  complete(scores, first, last, penalty, boundaries);
  std::vector<std::size_t> cells = boundaries.in_order();
  place_between_neighbours(scores, first, last, cells);
  return cells;
}

}  // namespace gputrace::analysis::change_point
