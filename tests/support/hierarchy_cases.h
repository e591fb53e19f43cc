// Families of simulated hierarchies with their true sizes, and curves of them with noise.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "cli/analysis/bench_result.h"
#include "tests/support/memory_hierarchy.h"

namespace gputrace::test {

struct HierarchyCase {
  std::string name;
  SimulatedHierarchy hierarchy;
  double largest = 0;  ///< working set
};

/// The constants of inference were set with this family, of sizes that are sold.
[[nodiscard]] std::vector<HierarchyCase> training_hierarchies(std::size_t count);
/// Others: sizes, ways, latencies and orders at random, and none a power of two.
[[nodiscard]] std::vector<HierarchyCase> judging_hierarchies(std::size_t count, double largest,
                                                             std::uint64_t seed);

/// Others again, as GPUs are sold: sizes in powers of two, which curves in steps of 2 meet exactly,
/// latencies of the usual levels, pages up to 2 MiB.
[[nodiscard]] std::vector<HierarchyCase> sold_hierarchies(std::size_t count, double largest,
                                                          std::uint64_t seed);

struct MeasuredHierarchy {
  std::vector<double> bytes;
  std::vector<SimulatedWalk> walks;
  std::vector<double> gbps;
};

/// Sizes from 4 KiB up, `per_octave` in each octave.
[[nodiscard]] MeasuredHierarchy measure_hierarchy(const HierarchyCase& what, double per_octave,
                                                  std::uint64_t seed);

struct NoiseOf {
  double relative = 0.01;
  double outliers = 0.04;  ///< share of points that are a quarter too slow
};

/// "latency.vector", "latency.hops", "bandwidth.read" as a bench would have measured them.
[[nodiscard]] analysis::TestResult latency_result(const MeasuredHierarchy& measured,
                                                  const NoiseOf& noise, std::uint64_t seed);
[[nodiscard]] analysis::TestResult hops_result(const MeasuredHierarchy& measured,
                                               const NoiseOf& noise, std::uint64_t seed);
[[nodiscard]] analysis::TestResult bandwidth_result(const MeasuredHierarchy& measured,
                                                    const NoiseOf& noise, std::uint64_t seed);

}  // namespace gputrace::test
