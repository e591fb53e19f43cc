// Limits of a roofline that need several results: what waves in flight can ask of a level, and
// whether real workloads lie under the roofs.
#pragma once

#include "cli/analysis/bench_result.h"
#include "cli/analysis/roofline.h"

namespace gputrace::analysis {

/// Points of workloads, and a warning for each that lies more than 5 % above its roof.
void add_workload_points(const BenchRun& run, Roofline& roofline);

/// A ceiling for each level whose latency and bandwidth are known, where slots for waves times the
/// bytes of one load of 4 bytes a lane over the latency are less than its bandwidth.
void add_concurrency_roofs(const BenchRun& run, Roofline& roofline);

}  // namespace gputrace::analysis
