// Workloads of known work for `gputrace calibrate`: what they do to the busy bits of a GPU is what
// recordings are read with.
#pragma once

#include <vector>

#include "kernels/bench/bench_test.h"

namespace gputrace::bench {

/// One test for each family, one result each; its id is the family's. Every point has a label
/// (BenchPoint::label and PointObserver's are the same) that names the group size, and a Stimulus
/// with threads, FLOPs, bytes and, where caches cannot change them, bytes of DRAM. `truth` is what
/// limits the points by how they are made:
///
/// | id | labels | unit | truth |
/// |---|---|---|---|
/// | calibration.sweep | sweep.n16.g256 | GFLOPS | bandwidth left of the ridge, compute right |
/// | calibration.bandwidth | bandwidth.copy.dram.g64 | GB/s | bandwidth |
/// | calibration.chase | latency.vector.c4.65536KiB | GB/s of 64-byte lines | latency |
/// | calibration.fill | fill.rgba8.noise.t4 | GPixel/s | raster; compute with many FMAs |
/// | calibration.texture | texture.rgba8.random.bilinear.1024 | GTexel/s | texture, or memory |
/// | calibration.atomics | atomics.global.add.line_a_lane | Gop/s | none of the classes |
/// | calibration.occupancy | occupancy.t64.r96.s0 | GB/s | latency |
///
/// The sweep runs first and leaves the rate of fp32 additions in the context, which the rates of
/// all others are held against: use one context for all. Points named "additions.fp32" are those.
/// A point is sampled for about options.samples times options.run_ns; a software rasteriser in a
/// quick run is an exception, its runs are shorter.
[[nodiscard]] const std::vector<BenchTest>& calibration_tests();

}  // namespace gputrace::bench
