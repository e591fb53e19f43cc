// What tests of real work derive from their points: places on a roofline, and ceilings of the same
// run to hold them against.
#pragma once

#include <optional>
#include <string>

#include "kernels/bench/bench_test.h"

namespace gputrace::bench {

/// A point on the roofline of a run.
struct WorkloadPlace {
  std::string name;         ///< "lbm.fp32"
  double flops = 0;         ///< of one dispatch, by the formula
  double memory_bytes = 0;  ///< that it moves beyond caches
  double footprint_bytes = 0;
};

/// "point.NAME.intensity", ".gflops" and ".working_set", for a dispatch that takes `ns` (its
/// quantiles are `fast_ns` and `slow_ns`).
struct WorkloadTimes {
  double median_ns = 0;
  double fast_ns = 0;
  double slow_ns = 0;
};
void derive_place(const WorkloadPlace& place, const WorkloadTimes& times,
                  analysis::TestResult& test);

/// What this run's earlier tests have measured; absent where they did not run.
struct RunCeilings {
  std::optional<double> memory_bytes_per_ns;  ///< copied, in the largest working set
  std::optional<double> operations_per_ns;    ///< instructions of fp32 arithmetic, of all lanes
};
[[nodiscard]] RunCeilings ceilings_of(const TestContext& context);

}  // namespace gputrace::bench
