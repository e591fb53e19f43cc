// Share of accesses that miss a cache when a set of another size is walked over and over in random
// order, for kinds of caches that differ in how their knee looks.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>

namespace gputrace::analysis::inference {

/// "Pairs": two places of the walk lie in each line, as with lines of 128 bytes and nodes 64 apart;
/// one of the two visits may come soon after the other.
enum class MissShape : std::uint8_t {
  kSharp,  ///< LRU, lines spread evenly over the sets
  kSharpPairs,
  kPoisson16,  ///< LRU of that many ways, lines spread at random over the sets
  kPoisson16Pairs,
  kPoisson8,
  kPoisson8Pairs,
  kPoisson4,
  kPoisson4Pairs,
  kRandom,  ///< random replacement
  kRandomPairs,
  kRandomPoisson,  ///< random replacement, 8 ways, lines spread at random
  kRandomPoissonPairs,
  kProportional,  ///< what fits is hit, whatever else is walked
  kPoisson2,
  kPoisson2Pairs,
  kRandomPoisson4,
  kRandomPoisson4Pairs,
  kRandomPoisson2,
  kRandomPoisson2Pairs,
};
/// In the order of the enumeration, up to `last`.
template <MissShape last>
constexpr auto miss_shapes_up_to() {
  std::array<MissShape, static_cast<std::size_t>(last) + 1> shapes{};
  for (std::size_t i = 0; i < shapes.size(); ++i) {
    shapes.at(i) = static_cast<MissShape>(i);
  }
  return shapes;
}
/// Those that curves with noise are read with; the others are too alike to these.
inline constexpr auto kMissShapes = miss_shapes_up_to<MissShape::kProportional>();
/// Those that shares of hops are read with, which are known without noise.
inline constexpr auto kAllMissShapes = miss_shapes_up_to<MissShape::kRandomPoisson2Pairs>();

/// 0 to 1; the working set is that many octaves larger than the cache.
[[nodiscard]] double miss_share_of_octaves(MissShape shape, double octaves);

}  // namespace gputrace::analysis::inference
