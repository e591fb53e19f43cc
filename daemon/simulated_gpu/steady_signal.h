// How a workload looks for as long as one likes: a few recorded periods in an order that never
// repeats, so that long means are exact.
#pragma once

#include <cstdint>
#include <vector>

#include "daemon/simulated_gpu/clock_solver.h"
#include "daemon/simulated_gpu/tape.h"

namespace gputrace::simulated_gpu {

inline constexpr int kMaxVariants = 16;

struct SignalOptions {
  double power_limit_w = 54;
  std::uint64_t seed = 1;
  int variants = 4;  ///< a power of two, at most kMaxVariants
};

class SteadySignal {
 public:
  /// Solves the clock, then records the variants: frame weights stratified over their spread.
  static Result<SteadySignal> build(const GpuDescription& gpu, const Workload& workload,
                                    const SignalOptions& options);
  /// GFX off most of the time.
  [[nodiscard]] static OperatingPoint idle_point(const GpuDescription& gpu);
  /// The idle signal, or one that was kept. `variants`: none, or a power of two up to kMaxVariants.
  SteadySignal(const OperatingPoint& point, std::vector<Tape> variants);

  /// State `x_ns` after the signal's begin. `order` is the seed of the variants' order.
  [[nodiscard]] UnitMask state_at(std::uint64_t x_ns, std::uint64_t order) const;
  /// Nanoseconds of [0, x_ns) in which `unit` is busy. Exact.
  [[nodiscard]] std::uint64_t busy_ns(std::uint64_t x_ns, Unit unit, std::uint64_t order) const;

  /// Means over the variants; of an idle signal the clock and power only.
  [[nodiscard]] const OperatingPoint& operating_point() const { return point_; }
  [[nodiscard]] const std::vector<Tape>& variants() const { return variants_; }
  /// All variants once.
  [[nodiscard]] std::uint64_t superblock_ns() const { return superblock_ns_; }
  /// Which variant stands at `place` (0 to variants - 1) of superblock `block`.
  [[nodiscard]] std::size_t variant_at(std::uint64_t block, std::size_t place,
                                       std::uint64_t order) const;

 private:
  OperatingPoint point_;
  std::vector<Tape> variants_;
  std::uint64_t superblock_ns_ = 0;
};

}  // namespace gputrace::simulated_gpu
