// Cache levels, as far as a curve of bandwidth over working-set size shows them: stretches where it
// is flat, with a drop behind.
#pragma once

#include <cstddef>
#include <span>
#include <vector>

namespace gputrace::bench {

/// Rates within this of a plateau's median belong to it.
inline constexpr double kPlateauWithin = 0.10;
/// Two plateaus are two levels only when the second is at least this much lower.
inline constexpr double kLevelDrop = 0.25;

struct CurvePoint {
  double bytes = 0;  ///< working set
  double gb_per_s = 0;
  double lower = 0;  ///< p5 and p95 of gb_per_s
  double upper = 0;
};

struct Plateau {
  std::size_t first = 0;  ///< indices into the curve
  std::size_t last = 0;
  std::size_t median = 0;  ///< the point whose rate is the plateau's
};

/// The levels of caches, fastest first. `curve` is sorted by size. A single size is no plateau.
/// What reaches the largest size is memory, not a cache, and is left out; so is a slope: a level
/// that it hides is not guessed.
[[nodiscard]] std::vector<Plateau> find_levels(std::span<const CurvePoint> curve);

}  // namespace gputrace::bench
