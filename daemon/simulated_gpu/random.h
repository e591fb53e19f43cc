// Seeded randomness of the model: SplitMix64 (Steele, Lea, Flood, "Fast splittable pseudorandom
// number generators", OOPSLA 2014), so that a tape depends on its seed and nothing else.
#pragma once

#include <cmath>
#include <cstdint>

namespace gputrace::simulated_gpu {

[[nodiscard]] constexpr std::uint64_t mix64(std::uint64_t x) {
  x += 0x9e3779b97f4a7c15U;
  x = (x ^ (x >> 30U)) * 0xbf58476d1ce4e5b9U;
  x = (x ^ (x >> 27U)) * 0x94d049bb133111ebU;
  return x ^ (x >> 31U);
}

class Random {
 public:
  explicit Random(std::uint64_t seed) : state_(seed) {}

  /// Uniform in [0, 1).
  double uniform() {
    state_ = mix64(state_);
    return static_cast<double>(state_ >> 11U) * 0x1p-53;
  }
  double exponential(double mean) { return -mean * std::log(1 - uniform()); }
  /// An integer whose mean is `x`: the share of a cache line that a wave wants becomes now 0,
  /// now 1.
  int round_to_mean(double x) {
    const int whole = static_cast<int>(x);
    return whole + (uniform() < x - whole ? 1 : 0);
  }

 private:
  std::uint64_t state_;
};

}  // namespace gputrace::simulated_gpu
