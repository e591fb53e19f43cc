// Workloads whose FLOPs and bytes are known exactly and that no calibration has seen: what
// `gputrace calibrate --validate` holds its estimates against.
#pragma once

#include <vector>

#include "kernels/bench/bench_test.h"

namespace gputrace::bench {

/// One test for each kind, one result each, in GFLOPS by FLOPs per byte of DRAM.
/// Points as those of calibration_tests(); Stimulus::dram_bytes is always there:
///
/// | id | labels | FLOP/B of DRAM | truth |
/// |---|---|---|---|
/// | validation.lbm | lbm.fp32, lbm.fp16s | 1.12, 2.23 | bandwidth |
/// | validation.stencil | stencil.5point | 0.74 | bandwidth |
/// | validation.matmul | matmul.tile64, .tile128, .tile256 | 15.5, 30, 57 | by the ridge |
/// | validation.nbody | nbody | far beyond any ridge | compute |
///
/// A context that calibration_tests() were run with spares the measurement of fp32 additions.
[[nodiscard]] const std::vector<BenchTest>& validation_tests();

}  // namespace gputrace::bench
