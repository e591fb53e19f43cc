#include "kernels/bench/tests/md/atoms.h"

#include <algorithm>
#include <cmath>
#include <cstddef>

#include "kernels/bench/cases/case_data.h"

namespace gputrace::bench {
namespace {

constexpr float kJitter = 0.1F;  ///< on each axis, in both directions
constexpr float kCharge = 0.4F;
constexpr std::uint32_t kNumbers = 4;
constexpr std::uint32_t kListsInTrip = 8;

/// Cells that may hold a neighbour.
struct Offset {
  int x = 0;
  int y = 0;
  int z = 0;
};

std::vector<Offset> offsets_of_neighbours() {
  constexpr int kReach = 3;
  const float reach = kListRadius + 2 * kJitter * std::sqrt(3.0F);
  std::vector<Offset> offsets;
  for (int z = -kReach; z <= kReach; ++z) {
    for (int y = -kReach; y <= kReach; ++y) {
      for (int x = -kReach; x <= kReach; ++x) {
        const auto square = static_cast<float>(x * x + y * y + z * z);
        if (square > 0 && square <= reach * reach) {
          offsets.push_back({x, y, z});
        }
      }
    }
  }
  return offsets;
}

/// The cell beside, around the edge, and how far the edge moved it.
struct Wrapped {
  std::uint32_t place = 0;
  float shift = 0;
};

Wrapped wrap(std::uint32_t place, int by, std::uint32_t side) {
  const int moved = static_cast<int>(place) + by;
  const int length = static_cast<int>(side);
  if (moved < 0) {
    return {.place = static_cast<std::uint32_t>(moved + length),
            .shift = -static_cast<float>(side)};
  }
  if (moved >= length) {
    return {.place = static_cast<std::uint32_t>(moved - length), .shift = static_cast<float>(side)};
  }
  return {.place = static_cast<std::uint32_t>(moved), .shift = 0};
}

class ListMaker {
 public:
  explicit ListMaker(const Atoms& atoms) : atoms_(atoms), offsets_(offsets_of_neighbours()) {}

  /// The neighbours of the atom in a cell, in `near_`.
  const std::vector<std::uint32_t>& look(std::uint32_t x, std::uint32_t y, std::uint32_t z) {
    near_.clear();
    const std::uint32_t side = atoms_.side;
    const float* const me = place_of((z * side + y) * side + x);
    for (const Offset& offset : offsets_) {
      const Wrapped at_x = wrap(x, offset.x, side);
      const Wrapped at_y = wrap(y, offset.y, side);
      const Wrapped at_z = wrap(z, offset.z, side);
      const std::uint32_t other = (at_z.place * side + at_y.place) * side + at_x.place;
      const float* const there = place_of(other);
      const float dx = there[0] + at_x.shift - me[0];
      const float dy = there[1] + at_y.shift - me[1];
      const float dz = there[2] + at_z.shift - me[2];
      if (dx * dx + dy * dy + dz * dz < kListRadius * kListRadius) {
        near_.push_back(other);
      }
    }
    return near_;
  }
  [[nodiscard]] std::size_t most() const { return offsets_.size(); }

 private:
  [[nodiscard]] const float* place_of(std::uint32_t atom) const {
    return &atoms_.numbers[std::size_t{atom} * kNumbers];
  }

  const Atoms& atoms_;
  std::vector<Offset> offsets_;
  std::vector<std::uint32_t> near_;
};

/// One pair: what it adds to the force along the distance, and how large its parts are.
struct Pull {
  double strength = 0;   ///< times the distance
  double magnitude = 0;  ///< without what cancels
};

Pull pull_of(double square, double charges) {
  constexpr double kSize = kAtomSize;
  constexpr double kDepth = kWellDepth;
  constexpr double kField = kReactionField;
  const double over_square = 1 / square;
  const double s2 = kSize * kSize * over_square;
  const double s6 = s2 * s2 * s2;
  const double root = std::sqrt(over_square);
  const double wall = 48 * kDepth * s6 * s6;
  const double well = 24 * kDepth * s6;
  return {
      .strength = (wall - well + charges * (root - 2 * kField * square)) * over_square,
      .magnitude = (wall + well + std::abs(charges) * (root + 2 * kField * square)) * over_square};
}

}  // namespace

Atoms make_atoms(std::uint32_t side) {
  Atoms atoms;
  atoms.side = side;
  atoms.numbers.resize(std::size_t{atoms.count()} * kNumbers);
  for (std::uint32_t atom = 0; atom < atoms.count(); ++atom) {
    const std::array<std::uint32_t, 3> cell{atom % side, atom / side % side, atom / side / side};
    float* const numbers = &atoms.numbers[std::size_t{atom} * kNumbers];
    for (std::size_t axis = 0; axis < cell.size(); ++axis) {
      // In [-1, 1).
      const float jitter = 2 * (pattern_float(std::uint64_t{atom} * kNumbers + axis) - 1);
      numbers[axis] = static_cast<float>(cell.at(axis)) + 0.5F + kJitter * jitter;
    }
    numbers[3] = (cell[0] + cell[1] + cell[2]) % 2 == 0 ? kCharge : -kCharge;
  }
  return atoms;
}

NeighbourLists list_neighbours(const Atoms& atoms) {
  ListMaker maker(atoms);
  const std::uint32_t count = atoms.count();
  const std::size_t most = (maker.most() + kListsInTrip - 1) / kListsInTrip * kListsInTrip;
  NeighbourLists lists;
  lists.words.resize(most * count);
  std::size_t longest = 0;
  const auto word = [&](std::size_t entry, std::uint32_t atom) {
    return (entry / 4 * count + atom) * 4 + entry % 4;
  };
  std::uint32_t atom = 0;
  for (std::uint32_t z = 0; z < atoms.side; ++z) {
    for (std::uint32_t y = 0; y < atoms.side; ++y) {
      for (std::uint32_t x = 0; x < atoms.side; ++x, ++atom) {
        const std::vector<std::uint32_t>& near = maker.look(x, y, z);
        for (std::size_t entry = 0; entry < most; ++entry) {
          lists.words[word(entry, atom)] = entry < near.size() ? near[entry] : atom;
        }
        lists.pairs += near.size();
        longest = std::max(longest, near.size());
      }
    }
  }
  lists.trips = static_cast<std::uint32_t>((longest + kListsInTrip - 1) / kListsInTrip);
  lists.words.resize(std::size_t{lists.trips} * kListsInTrip * count);
  return lists;
}

Force force_on(const Atoms& atoms, std::uint32_t atom) {
  constexpr double kUnit = 0x1p-24;
  constexpr double kRoot3 = 1.7321;
  /// Of the steepest part, the wall: the power of the distance and one of its component.
  constexpr double kSteepness = 14;
  /// Some 20 operations, and a root of two units of which the 13th power is taken.
  constexpr double kRoundings = 80;
  constexpr double kSquareCut = double{kCutOff} * double{kCutOff};
  const double box = atoms.box();
  // Of a difference of places, before an edge is taken away.
  const double off = kUnit * (box + 1);
  const auto number = [&](std::uint32_t of, std::size_t which) {
    return static_cast<double>(atoms.numbers[std::size_t{of} * kNumbers + which]);
  };
  Force force;
  for (std::uint32_t other = 0; other < atoms.count(); ++other) {
    std::array<double, 3> apart{};
    double square = 0;
    for (std::size_t axis = 0; axis < apart.size(); ++axis) {
      const double distance = number(atom, axis) - number(other, axis);
      apart.at(axis) = distance - box * std::nearbyint(distance / box);
      square += apart.at(axis) * apart.at(axis);
    }
    const double uncertain = 2 * double{kCutOff} * kRoot3 * off + kRoundings * kUnit;
    if (square > kSquareCut + uncertain || other == atom) {
      continue;
    }
    const Pull pull = pull_of(square, number(atom, 3) * number(other, 3));
    const double share = kSteepness * kRoot3 * off / std::sqrt(square) + kRoundings * kUnit;
    const bool at_the_edge = square > kSquareCut - uncertain;
    for (std::size_t axis = 0; axis < apart.size(); ++axis) {
      const double size = pull.magnitude * std::abs(apart.at(axis));
      force.of.at(axis) += square < kSquareCut ? pull.strength * apart.at(axis) : 0;
      force.bound.at(axis) += size * (at_the_edge ? 1 : share) + pull.magnitude * off;
    }
  }
  return force;
}

}  // namespace gputrace::bench
