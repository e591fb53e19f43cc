#include "kernels/bench/tests/lbm/lattice.h"

#include <cmath>
#include <numbers>

namespace gputrace::bench {
namespace {

constexpr std::array<LatticeDirection, kLatticeDirections> kDirections{{{0, 0, 0},
                                                                        {1, 0, 0},
                                                                        {-1, 0, 0},
                                                                        {0, 1, 0},
                                                                        {0, -1, 0},
                                                                        {0, 0, 1},
                                                                        {0, 0, -1},
                                                                        {1, 1, 0},
                                                                        {-1, -1, 0},
                                                                        {1, -1, 0},
                                                                        {-1, 1, 0},
                                                                        {1, 0, 1},
                                                                        {-1, 0, -1},
                                                                        {1, 0, -1},
                                                                        {-1, 0, 1},
                                                                        {0, 1, 1},
                                                                        {0, -1, -1},
                                                                        {0, 1, -1},
                                                                        {0, -1, 1}}};

std::uint64_t moved(std::uint64_t place, std::uint32_t bits, int by) {
  const std::uint64_t side = 1ULL << bits;
  return (place + side + static_cast<std::uint64_t>(by)) & (side - 1);
}

struct Place {
  std::uint64_t x = 0;
  std::uint64_t y = 0;
  std::uint64_t z = 0;
};

Place place_of(const LatticeBox& box, std::uint64_t cell) {
  return {.x = cell & ((1ULL << box.x_bits) - 1),
          .y = (cell >> box.x_bits) & ((1ULL << box.y_bits) - 1),
          .z = cell >> (box.x_bits + box.y_bits)};
}

std::uint64_t cell_at(const LatticeBox& box, const Place& place) {
  return (((place.z << box.y_bits) + place.y) << box.x_bits) + place.x;
}

double along(const LatticeDirection& d, const std::array<double, 3>& flow) {
  return d.x * flow[0] + d.y * flow[1] + d.z * flow[2];
}

Populations equilibrium_of(const Moments& moments) {
  const std::array<double, 3>& flow = moments.flow;
  const double square = flow[0] * flow[0] + flow[1] * flow[1] + flow[2] * flow[2];
  Populations populations{};
  for (std::size_t i = 0; i < kLatticeDirections; ++i) {
    const double speed = along(kDirections.at(i), flow);
    populations.at(i) =
        lattice_weight(i) * (moments.density + 3 * speed + 4.5 * speed * speed - 1.5 * square);
  }
  return populations;
}

}  // namespace

const LatticeDirection& lattice_direction(std::size_t direction) {
  return kDirections.at(direction);
}

double lattice_weight(std::size_t direction) {
  constexpr std::array<double, 3> kWeights{1.0 / 3, 1.0 / 18, 1.0 / 36};
  const LatticeDirection& d = kDirections.at(direction);
  const int steps = d.x * d.x + d.y * d.y + d.z * d.z;
  return kWeights.at(static_cast<std::size_t>(steps));
}

std::uint64_t LatticeBox::downstream(std::uint64_t cell, const LatticeDirection& d) const {
  const Place from = place_of(*this, cell);
  return cell_at(*this, {.x = moved(from.x, x_bits, d.x),
                         .y = moved(from.y, y_bits, d.y),
                         .z = moved(from.z, z_bits, d.z)});
}

std::uint64_t LatticeBox::in_pattern(std::uint64_t cell) const {
  const Place from = place_of(*this, cell);
  const auto repeated = [](std::uint64_t place, std::uint32_t bits) {
    return place & ((1ULL << bits) - 1);
  };
  return cell_at(kLatticePattern, {.x = repeated(from.x, kLatticePattern.x_bits),
                                   .y = repeated(from.y, kLatticePattern.y_bits),
                                   .z = repeated(from.z, kLatticePattern.z_bits)});
}

Moments moments_of(const Populations& populations) {
  Moments moments;
  for (std::size_t i = 0; i < kLatticeDirections; ++i) {
    const LatticeDirection& d = kDirections.at(i);
    const double population = populations.at(i);
    moments.density += population;
    moments.flow[0] += d.x * population;
    moments.flow[1] += d.y * population;
    moments.flow[2] += d.z * population;
  }
  return moments;
}

Populations first_populations(std::uint64_t pattern_cell) {
  const Place place = place_of(kLatticePattern, pattern_cell);
  const auto turn = [](double cells) {
    return 2 * std::numbers::pi * cells / static_cast<double>(1U << kLatticePattern.x_bits);
  };
  const auto x = static_cast<double>(place.x);
  const auto y = static_cast<double>(place.y);
  const auto z = static_cast<double>(place.z);
  return equilibrium_of({.density = 0,
                         .flow = {0.04 * std::sin(turn(y + 0.5)) + 0.01 * std::cos(turn(x + z)),
                                  0.02 * std::cos(turn(z + 0.5)) + 0.01 * std::sin(turn(2 * x)),
                                  0.015 * std::sin(turn(x + y))}});
}

LatticeReference::LatticeReference() {
  restart();
}

void LatticeReference::restart() {
  const std::uint64_t cells = kLatticePattern.cells();
  now_.resize(cells);
  next_.resize(cells);
  moments_.resize(cells);
  steps_ = 0;
  for (std::uint64_t cell = 0; cell < cells; ++cell) {
    now_[cell] = first_populations(cell);
    moments_[cell] = moments_of(now_[cell]);
  }
}

void LatticeReference::step() {
  constexpr double kRelaxation = kLatticeRelaxation;
  for (std::uint64_t cell = 0; cell < now_.size(); ++cell) {
    Populations in{};
    for (std::size_t i = 0; i < kLatticeDirections; ++i) {
      const LatticeDirection& d = kDirections.at(i);
      in.at(i) = now_[kLatticePattern.downstream(cell, {-d.x, -d.y, -d.z})].at(i);
    }
    moments_[cell] = moments_of(in);
    const Populations equilibrium = equilibrium_of(moments_[cell]);
    for (std::size_t i = 0; i < kLatticeDirections; ++i) {
      next_[cell].at(i) = in.at(i) + kRelaxation * (equilibrium.at(i) - in.at(i));
    }
  }
  now_.swap(next_);
  ++steps_;
}

const std::vector<Moments>& LatticeReference::after(std::uint64_t steps) {
  if (steps < steps_) {
    restart();
  }
  while (steps_ < steps) {
    step();
  }
  return moments_;
}

}  // namespace gputrace::bench
