// Workloads with published results, which the model is checked against, and a game's frame.
#pragma once

#include "daemon/simulated_gpu/workload.h"

namespace gputrace::simulated_gpu {

/// Reads 16 bytes, does `fma` vec4 fused multiply-adds in four chains, writes 16 bytes.
[[nodiscard]] Workload flop_sweep(double fma);
/// Scalar FP32 multiply-adds without memory traffic.
[[nodiscard]] Workload scalar_peak();
/// Pointer chases side by side, one wave each: latency and nothing else.
[[nodiscard]] Workload pointer_chase(const GpuDescription& gpu, int chains, double footprint_mib);
/// A full-screen pass of `fetches` bilinear RGBA8 fetches at random places of a square texture.
[[nodiscard]] Workload random_texture(const GpuDescription& gpu, double side, int fetches);
/// The same with neighbouring pixels fetching neighbouring texels.
[[nodiscard]] Workload coherent_texture(double side, int fetches);
/// A full-screen pass that computes and writes `bytes` a pixel.
[[nodiscard]] Workload colour_fill(double fma, int bytes, double issue_share);

/// Which passes of the game's frame are drawn, and how heavy they are.
struct GameFrameOptions {
  double resolution = 1;      ///< pixels of 1920 x 1080
  double flops = 1;           ///< factor on the opaque pass
  double texture_misses = 1;  ///< factor on the opaque pass
  double shadow_pixels = 1;   ///< factor
  double cpu_ms = 7.5;
  double cpu_w = 7;
  bool shadow = true;
  bool opaque = true;
  bool blended = true;
  bool post = true;
  bool interface = true;
};
[[nodiscard]] Workload game_frame(const GameFrameOptions& options);

}  // namespace gputrace::simulated_gpu
