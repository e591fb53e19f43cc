// What the latencies of a path say: how large each cache is and how long it takes to answer.
#pragma once

#include <cstddef>
#include <span>
#include <string>
#include <vector>

#include "cli/analysis/bench_result.h"
#include "cli/analysis/inference/confidence.h"

namespace gputrace::analysis::inference {

/// Something else than the curve of latencies that shows the size of a level.
struct Witness {
  std::string name;  ///< "share of hops"
  Reading size;
};

/// Of "latency.hops" and "bandwidth.*", of a roofline's levels.
[[nodiscard]] std::vector<Witness> other_witnesses(const BenchRun& run);

/// Appends to "latency.hops" what the shares of hops say.
void read_hops(TestResult& hops);

/// A level as read, for those who read other curves with it.
struct LevelRead {
  Reading size;
};

/// Appends "level.N.size", "level.N.latency" and "memory.latency" to the results of a path;
/// "tlb.N.reach" in place of a size that is within one of `tlb_reaches`. Returns the caches.
std::vector<LevelRead> read_path(TestResult& path, std::span<const Witness> witnesses,
                                 std::span<const Reading> tlb_reaches);

}  // namespace gputrace::analysis::inference
