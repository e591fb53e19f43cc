// The test behind `gputrace roofline`: ceilings of arithmetic and of memory, and the rates in
// between.
#pragma once

#include <vector>

#include "cli/analysis/bench_result.h"
#include "kernels/bench/bench_test.h"

namespace gputrace::bench {

struct RooflineRequest {
  bool article = false;        ///< the article's two shapes in place of the rest
  bool ceilings_only = false;  ///< fp32 peak and DRAM copy alone
};

/// Results, in this order:
/// - "roofline.peak.fp32" and so on, one for each type: GFLOPS (GOP/s of integers) by subgroup
/// size;
///   derived "peak.fp32", and "peak.fp32.wave32" where sizes can be asked for;
/// - "roofline.bandwidth": GB/s of read, write, copy and triad; derived "dram.read" and so on;
/// - "roofline.levels": GB/s by working set; derived "level.1" and so on, and "level.1.size";
/// - "roofline.sweep": GFLOPS by arithmetic intensity, half steps around the ridge;
/// or "roofline.article.chains1" and "roofline.article.chains4"; then "roofline.additions", GOP/s
/// of fp32 additions at several times, which the rates of all others were held against. After a
/// lost device what was measured is kept, and the device is opened again for the parts that follow.
[[nodiscard]] std::vector<analysis::TestResult> run_roofline(TestContext& context,
                                                             const RooflineRequest& request);

}  // namespace gputrace::bench
