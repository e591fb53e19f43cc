// A memory hierarchy that executes accesses one by one: set-associative caches and TLBs with real
// tags. What it says about a walk owes nothing to the formulas that inference fits to it.
#pragma once

#include <cstdint>
#include <random>
#include <vector>

namespace gputrace::test {

enum class Replacement { kLru, kRandom, kTreeLru };

struct SimulatedCache {
  double bytes = 0;         ///< of a TLB: entries times page
  std::uint32_t line = 64;  ///< of a TLB: the page
  std::uint32_t ways = 8;   ///< a power of two for kTreeLru
  Replacement replacement = Replacement::kLru;
  bool hashed = false;    ///< sets by a hash of the address, not by its lower bits
  bool physical = false;  ///< sets by the address behind the page table
  double added_ns = 0;    ///< what a miss costs more
  double gbps = 0;        ///< of what it serves, to `bandwidth`
};

struct SimulatedHierarchy {
  double base_ns = 30;  ///< of a hit in the first cache
  double memory_gbps = 100;
  std::vector<SimulatedCache> caches;  ///< the nearest first
  std::vector<SimulatedCache> tlbs;
  std::uint64_t page = 4096;  ///< frames are random
};

struct SimulatedWalk {
  double mean_ns = 0;
  std::vector<double> served;  ///< share of accesses that each cache served, then memory
  std::vector<double> tlb_missed;
  /// Of a part of the accesses, in their order: for a histogram.
  std::vector<double> ns;
};

enum class Walk {
  kCycle,     ///< nodes in random order, the same each time
  kJittered,  ///< the same, with the line inside each stride chosen by a hash
  kInOrder,   ///< as a stream reads
};

/// A walk over nodes `stride` bytes apart in `bytes`, warmed up. Deterministic for a seed.
[[nodiscard]] SimulatedWalk walk(const SimulatedHierarchy& hierarchy, double bytes,
                                 std::uint64_t stride, Walk kind, std::uint64_t seed);

/// GB/s of a stream over `bytes`, from what serves it.
[[nodiscard]] double bandwidth(const SimulatedHierarchy& hierarchy, double bytes,
                               std::uint64_t seed);

}  // namespace gputrace::test
