// D3Q19 on the CPU: directions, boxes, a state to begin with, and an independent computation of
// what becomes of it.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <vector>

namespace gputrace::bench {

inline constexpr std::size_t kLatticeDirections = 19;
inline constexpr float kLatticeRelaxation = 1.6F;  ///< 1 / relaxation time

struct LatticeDirection {
  int x = 0;
  int y = 0;
  int z = 0;
};

/// In the order of lbm.glsl: opposite directions are neighbours, and 0 is at rest.
[[nodiscard]] const LatticeDirection& lattice_direction(std::size_t direction);
[[nodiscard]] double lattice_weight(std::size_t direction);

/// A periodic box; sides are powers of two.
struct LatticeBox {
  std::uint32_t x_bits = 0;
  std::uint32_t y_bits = 0;
  std::uint32_t z_bits = 0;

  [[nodiscard]] std::uint64_t cells() const { return 1ULL << (x_bits + y_bits + z_bits); }
  /// The neighbour that a direction leads to.
  [[nodiscard]] std::uint64_t downstream(std::uint64_t cell, const LatticeDirection& d) const;
  /// The cell of kLatticePattern that this one is a copy of.
  [[nodiscard]] std::uint64_t in_pattern(std::uint64_t cell) const;
};

/// States repeat after 16 cells in each direction, and so does all that becomes of them: a box of
/// any size is checked with this one.
inline constexpr LatticeBox kLatticePattern{.x_bits = 4, .y_bits = 4, .z_bits = 4};

using Populations = std::array<double, kLatticeDirections>;

struct Moments {
  double density = 0;  ///< less 1
  std::array<double, 3> flow{};
};

[[nodiscard]] Moments moments_of(const Populations& populations);

/// Populations less their weights, at the begin: equilibrium with waves in all directions, the
/// fastest of some 0.06 lattice units.
[[nodiscard]] Populations first_populations(std::uint64_t pattern_cell);

/// The pattern in double on two grids, populations pulled from where they come from, from step to
/// step. Not for several threads.
class LatticeReference {
 public:
  LatticeReference();
  /// Of each cell after so many steps. Steps go forward only, or begin anew.
  [[nodiscard]] const std::vector<Moments>& after(std::uint64_t steps);

 private:
  void restart();
  void step();

  std::vector<Populations> now_;
  std::vector<Populations> next_;
  std::uint64_t steps_ = 0;
  std::vector<Moments> moments_;
};

}  // namespace gputrace::bench
