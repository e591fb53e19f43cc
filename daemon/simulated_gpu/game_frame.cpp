// A DirectX 9 era game at 1080p: shadow maps, opaque, blended, post-processing, interface. The list
// of passes is general knowledge, not a measurement. After the first run the FLOPs of the opaque
// pass, the number of post passes and the CPU time were raised once, so that the frame is bound by
// the GPU; nothing was set for the sake of a single unit's busy bit.
#include "daemon/simulated_gpu/kernels.h"

namespace gputrace::simulated_gpu {

namespace {

/// Mip-mapped textures: 1.3 lines a quad and fetch, half of the fetches trilinear.
VectorMemoryStep texture_fetches(double fetches, double l0_miss, double gl1_miss, double gl2_miss) {
  VectorMemoryStep step;
  step.address_cycles = 0.25 * 1.5 * fetches;
  step.lines = 0.25 * 1.3 * 1.5 * fetches;
  step.sectors = 2 * step.lines;
  step.l0_miss = l0_miss;
  step.gl1_miss = gl1_miss;
  step.gl2_miss = gl2_miss;
  step.tlb_misses = fetches * 0.0005;
  return step;
}

Pass shadow_pass(double pixels) {
  Pass pass;
  pass.pixel = true;
  pass.threads = pixels;
  pass.triangles = 350e3;
  pass.draws = 300;
  pass.depth_bytes = 2;
  pass.depth_dram_share = 0.7;
  pass.interpolants = false;
  pass.read.lines = 0;
  pass.command_us = 1.5;
  return pass;
}

Pass opaque_pass(double pixels, const GameFrameOptions& options) {
  Pass pass;
  pass.pixel = true;
  pass.threads = pixels;
  pass.triangles = 700e3;
  pass.draws = 700;
  pass.depth_bytes = 3;
  pass.depth_dram_share = 0.6;
  pass.colour_write_bytes = 8;
  pass.colour_dram_share = 0.8;
  pass.flops = 2000 * options.flops;
  pass.steps = 3;
  pass.read = texture_fetches(3, 0.12 * options.texture_misses, 0.6, 0.5);
  pass.command_us = 1.5;
  return pass;
}

Pass blended_pass(double pixels) {
  Pass pass;
  pass.pixel = true;
  pass.threads = pixels;
  pass.triangles = 60e3;
  pass.draws = 120;
  pass.depth_bytes = 2;
  pass.colour_write_bytes = 8;
  pass.colour_read_bytes = 8;
  pass.colour_dram_share = 0.4;
  pass.flops = 120;
  pass.read = texture_fetches(2, 0.12, 0.6, 0.4);
  pass.command_us = 1.5;
  return pass;
}

Pass post_pass(double pixels) {
  Pass pass;
  pass.pixel = true;
  pass.threads = pixels;
  pass.triangles = 20;
  pass.draws = 10;
  pass.colour_write_bytes = 6;
  pass.colour_dram_share = 0.7;
  pass.flops = 150;
  pass.steps = 2;
  pass.read = texture_fetches(2.5, 0.12, 0.6, 0.6);
  pass.command_us = 8;
  return pass;
}

Pass interface_pass(double pixels) {
  Pass pass;
  pass.pixel = true;
  pass.threads = pixels;
  pass.triangles = 4e3;
  pass.draws = 40;
  pass.colour_write_bytes = 4;
  pass.colour_read_bytes = 4;
  pass.colour_dram_share = 0.2;
  pass.flops = 30;
  pass.read = texture_fetches(1, 0.1, 0.6, 0.3);
  pass.command_us = 1.5;
  return pass;
}

}  // namespace

Workload game_frame(const GameFrameOptions& options) {
  const double screen = 1920.0 * 1080 * options.resolution;
  Workload work;
  work.name = "game";
  work.gap_us = 60;
  work.cpu_ms = options.cpu_ms;
  work.cpu_w = options.cpu_w;
  work.weight_spread = 0.15;
  if (options.shadow) {
    work.passes.push_back(shadow_pass(2048.0 * 2048 * 1.2 * options.shadow_pixels));
  }
  if (options.opaque) {
    work.passes.push_back(opaque_pass(screen * 1.6, options));
  }
  if (options.blended) {
    work.passes.push_back(blended_pass(screen * 1.5));
  }
  if (options.post) {
    work.passes.push_back(post_pass(screen * 8));
  }
  if (options.interface) {
    work.passes.push_back(interface_pass(screen * 0.3));
  }
  return work;
}

}  // namespace gputrace::simulated_gpu
