// Atoms of a fluid in a periodic cube, who is near whom, and their forces on the CPU.
#pragma once

#include <array>
#include <cstdint>
#include <vector>

namespace gputrace::bench {

// In units of the mean distance of neighbours.
inline constexpr float kCutOff = 2.25F;
inline constexpr float kListRadius = 2.5F;  ///< lists outlive a few steps, so they reach farther
inline constexpr float kAtomSize = 0.85F;   ///< sigma of Lennard-Jones
inline constexpr float kWellDepth = 0.65F;  ///< epsilon
/// Of the reaction field around a conductor: the force ends at the cut-off.
inline constexpr float kReactionField = 0.5F / (kCutOff * kCutOff * kCutOff);

/// `side` atoms to an edge of the cube, each near its place in a grid; a multiple of 4, at least 8.
struct Atoms {
  std::uint32_t side = 0;
  std::vector<float> numbers;  ///< x, y, z, charge of each

  [[nodiscard]] std::uint32_t count() const { return side * side * side; }
  [[nodiscard]] float box() const { return static_cast<float>(side); }
};

[[nodiscard]] Atoms make_atoms(std::uint32_t side);

/// Neighbours within kListRadius, as md_list.comp reads them, filled up with the atom itself.
struct NeighbourLists {
  std::uint32_t trips = 0;           ///< 8 neighbours each
  std::uint64_t pairs = 0;           ///< entries that are neighbours
  std::vector<std::uint32_t> words;  ///< 8 * trips * atoms
};

/// By cells of the grid; each holds one atom.
[[nodiscard]] NeighbourLists list_neighbours(const Atoms& atoms);

struct Force {
  std::array<double, 3> of{};
  /// How far fp32 may be off, component by component.
  std::array<double, 3> bound{};
};

/// Of all atoms within the cut-off, in double, without lists.
[[nodiscard]] Force force_on(const Atoms& atoms, std::uint32_t atom);

}  // namespace gputrace::bench
