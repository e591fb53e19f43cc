#include "kernels/bench/roofline_levels.h"

#include <algorithm>
#include <cmath>
#include <numeric>

namespace gputrace::bench {

namespace {

/// The point with the middle rate of [first, last]; of an even number the lower of the two.
std::size_t median_point(std::span<const CurvePoint> curve, std::size_t first, std::size_t last) {
  std::vector<std::size_t> order(last - first + 1);
  std::iota(order.begin(), order.end(), first);
  std::ranges::sort(order, {}, [&](std::size_t i) { return curve[i].gb_per_s; });
  return order[(order.size() - 1) / 2];
}

bool is_flat(std::span<const CurvePoint> curve, std::size_t first, std::size_t last) {
  const double middle = curve[median_point(curve, first, last)].gb_per_s;
  for (std::size_t i = first; i <= last; ++i) {
    if (std::abs(curve[i].gb_per_s - middle) > kPlateauWithin * middle) {
      return false;
    }
  }
  return true;
}

/// The longest flat stretch within [begin, end), at least two points; empty (first > last) without.
Plateau longest_flat(std::span<const CurvePoint> curve, std::size_t begin, std::size_t end) {
  Plateau longest{.first = 1, .last = 0, .median = 0};
  for (std::size_t first = begin; first + 1 < end; ++first) {
    std::size_t last = first;
    while (last + 1 < end && is_flat(curve, first, last + 1)) {
      ++last;
    }
    const std::size_t length = longest.last + 1 - longest.first;
    if (last > first && last - first + 1 > length) {
      longest = {.first = first, .last = last, .median = median_point(curve, first, last)};
    }
  }
  return longest;
}

void collect(std::span<const CurvePoint> curve, std::size_t begin, std::size_t end,
             std::vector<Plateau>& plateaus) {
  if (end < begin + 2) {
    return;
  }
  const Plateau found = longest_flat(curve, begin, end);
  if (found.first > found.last) {
    return;
  }
  collect(curve, begin, found.first, plateaus);
  plateaus.push_back(found);
  collect(curve, found.last + 1, end, plateaus);
}

}  // namespace

std::vector<Plateau> find_levels(std::span<const CurvePoint> curve) {
  std::vector<Plateau> plateaus;
  collect(curve, 0, curve.size(), plateaus);
  std::vector<Plateau> levels;
  for (const Plateau& next : plateaus) {
    const double rate = curve[next.median].gb_per_s;
    if (!levels.empty() && rate > (1 - kLevelDrop) * curve[levels.back().median].gb_per_s) {
      // The same level: noise, or a size that conflicts with itself, lies between.
      Plateau& level = levels.back();
      level.last = next.last;
      level.median = median_point(curve, level.first, level.last);
      continue;
    }
    levels.push_back(next);
  }
  if (!levels.empty() && levels.back().last + 1 == curve.size()) {
    levels.pop_back();
  }
  std::erase_if(levels, [&](const Plateau& level) {
    return curve[level.median].lower <= curve[level.last + 1].upper;
  });
  return levels;
}

}  // namespace gputrace::bench
