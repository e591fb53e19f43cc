// Measures one pointer chase: proof, a walk to warm the caches, then dispatches of two lengths.
#pragma once

#include <cstdint>
#include <optional>

#include "kernels/bench/bench_test.h"
#include "kernels/bench/tests/latency/latency_cases.h"

namespace gputrace::bench {

/// No cache answers in less than 2 clocks at 4 GHz: less means that loads were left out.
inline constexpr double kLeastHopNs = 0.5;

struct ChasePoint {
  KernelCase kernel;
  KernelCase warmer;                  ///< walks all nodes before; often the same
  std::uint32_t warming_walkers = 1;  ///< of the warmer, all together
  std::uint64_t nodes = 0;
  analysis::BenchPoint median = {};
  std::optional<analysis::BenchPoint> minimum = std::nullopt;
  bool is_done = false;
};

/// With x, without figures.
[[nodiscard]] ChasePoint chase_point(const ChaseShape& shape, KernelCase kernel,
                                     const vulkan::DeviceFacts& facts, const ChaseTrack& track);

/// Shorter runs than other tests have: a figure needs some thousand hops, and there are many.
[[nodiscard]] MeasurementOptions chase_options(const MeasurementOptions& options, bool quick);

/// Enters ns a hop, or why there are none, into the point, and the proofs into `test`. Neither
/// where it was cancelled. The error, if there is one, is in the point too.
[[nodiscard]] std::optional<Error> measure_chase(TestContext& context,
                                                 const MeasurementOptions& options,
                                                 ChasePoint& point, analysis::TestResult& test);

/// Once through all nodes of the track.
[[nodiscard]] Status walk_all(Runner& runner, const ChasePoint& point,
                              const MeasurementOptions& options);

}  // namespace gputrace::bench
