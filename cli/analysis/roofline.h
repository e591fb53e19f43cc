// The roofline (Williams, Waterman, Patterson 2009): ceilings of computing and of memory, and the
// ridge points where they meet.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <vector>

#include "cli/analysis/bench_result.h"

namespace gputrace::analysis {

/// A limit that was measured. `lower` and `upper` are the p5 and p95 of the runs behind it.
struct Ceiling {
  std::string name;  ///< "fp32", "fp16_scalar"; "DRAM copy", "level 1"
  double value = 0;  ///< GFLOPS (for integers GOP/s) or GB/s
  std::optional<double> lower;
  std::optional<double> upper;
  std::string unit;
};

/// Where a compute ceiling and a bandwidth ceiling meet.
struct Ridge {
  std::size_t compute = 0;    ///< index into Roofline::compute
  std::size_t bandwidth = 0;  ///< index into Roofline::bandwidth
  double intensity = 0;       ///< FLOP/B
  /// Of the worst combinations of the ceilings' spreads; absent where one has none.
  std::optional<double> lower;
  std::optional<double> upper;
};

/// Something at a known arithmetic intensity and rate.
struct RooflinePoint {
  std::string label;
  double intensity = 0;  ///< FLOP/B
  double gflops = 0;
  std::optional<double> lower;  ///< of gflops
  std::optional<double> upper;
  bool suspect = false;  ///< a proof of it failed
};

struct Roofline {
  std::vector<Ceiling> compute;  ///< the main one first: fp32
  /// The main one first: DRAM copy, else the next best of DRAM. Last the concurrency roofs: what
  /// waves with one load each in flight can ask of a level, where that is less than it gives.
  std::vector<Ceiling> bandwidth;
  /// Of every pair whose unit is GFLOPS, the main ones first; concurrency roofs have none.
  std::vector<Ridge> ridges;
  std::vector<RooflinePoint> points;
  /// Whole sentences: points that lie above the roofs, so that the roofs are wrong.
  std::vector<std::string> warnings;
};

/// What the derived values "peak.*" (GFLOPS, GOP/s), "dram.*" and "level.*" (GB/s) and the points
/// of "roofline.sweep" say. "point.NAME.intensity" (FLOP/B of DRAM) and "point.NAME.gflops" are a
/// point each; it is held against fp32 and the best of DRAM, or with "point.NAME.working_set" (B)
/// against the nearest level that holds that. "slots" and latencies make concurrency roofs. Values
/// of suspect or failed tests are left out; a ceiling for each subgroup size ("peak.fp32.wave32")
/// is left out where the better one ("peak.fp32") is there.
[[nodiscard]] Roofline make_roofline(const BenchRun& run);

/// GFLOPS that the two ceilings allow at an arithmetic intensity.
[[nodiscard]] double attainable(const Ceiling& compute, const Ceiling& bandwidth, double intensity);

}  // namespace gputrace::analysis
