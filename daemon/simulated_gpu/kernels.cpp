#include "daemon/simulated_gpu/kernels.h"

#include <algorithm>

namespace gputrace::simulated_gpu {

namespace {

constexpr double kFullHdPixels = 1920.0 * 1080;
constexpr double kFlopsPerVec4Fma = 8;
constexpr double kChains = 4;  // of the sweep: its published figures count one of them
/// A fused multiply-add of four chains of vec4 takes 128 bytes of code (8 bytes an instruction).
constexpr double kCodeKibPerFma = 0.128;

VectorMemoryStep no_read() {
  VectorMemoryStep step;
  step.lines = 0;
  return step;
}

}  // namespace

Workload flop_sweep(double fma) {
  Pass pass;
  pass.threads = 128e6 / 16 * 1.048576;  // 128 MiB of vec4
  pass.read = stream_read(16);
  pass.store_bytes = 16;
  pass.flops = kFlopsPerVec4Fma * kChains * fma;
  pass.code_kib = fma * kCodeKibPerFma * 0.977 + 0.2;
  return {.name = "flop sweep", .passes = {pass}};
}

Workload scalar_peak() {
  Pass pass;
  pass.threads = 8e6;
  pass.read = no_read();
  pass.store_bytes = 0.01;
  pass.flops = 16384;
  return {.name = "scalar peak", .passes = {pass}};
}

Workload pointer_chase(const GpuDescription& gpu, int chains, double footprint_mib) {
  // One line a wave: every lane follows the same pointer.
  constexpr double kPerThread = 1.0 / kWaveThreads;
  Pass pass;
  pass.threads = kWaveThreads * static_cast<double>(chains);
  pass.group_threads = kWaveThreads;
  pass.steps = 4000;
  pass.flops = 64 * 4;
  pass.max_groups = chains;
  pass.read = random_read(gpu, footprint_mib * 1024, kPerThread, kPerThread, kPerThread);
  return {.name = "pointer chase", .passes = {pass}, .gap_us = 50};
}

namespace {

Pass texture_pass(double layers, int fetches, double flops_per_fetch) {
  Pass pass;
  pass.pixel = true;
  pass.threads = kFullHdPixels * layers;
  pass.steps = fetches;
  pass.colour_write_bytes = 1;
  pass.flops = fetches * flops_per_fetch;
  pass.triangles = 2;
  return pass;
}

}  // namespace

Workload random_texture(const GpuDescription& gpu, double side, int fetches) {
  Pass pass = texture_pass(8, fetches, 60);
  // A bilinear footprint of 2x2 texels at a random place: a line holds 8x4 RGBA8 texels, so it
  // touches (1 + 1/8)(1 + 1/4) lines and (1 + 1/4)^2 sectors of 4x4.
  pass.read = random_read(gpu, side * side * 4 / 1024, 1.406, 1.5625, 0.25);
  return {.name = "random texture", .passes = {pass}};
}

Workload coherent_texture(double side, int fetches) {
  Pass pass = texture_pass(128, fetches, 8);
  pass.read.lines = 0.25 * 1.3;  // a quad of pixels shares its lines [A]
  pass.read.sectors = 0.3;
  pass.read.address_cycles = 0.25;
  // Misses are the unique bytes of a pixel: 4, shared by its fetches.
  pass.read.l0_miss = std::min(1.0, 4.0 / fetches / kLineBytes / pass.read.lines);
  pass.read.gl1_miss = 0.5;
  pass.read.gl2_miss = side * side * 4 > 2e6 ? 0.3 : 0;
  return {.name = "coherent texture", .passes = {pass}};
}

Workload colour_fill(double fma, int bytes, double issue_share) {
  Pass pass;
  pass.pixel = true;
  pass.threads = kFullHdPixels * 128;
  pass.interpolants = false;
  pass.read = no_read();
  pass.flops = fma * kFlopsPerVec4Fma * kChains;
  pass.issue_share = issue_share;
  pass.colour_write_bytes = bytes;
  pass.triangles = 2;
  pass.code_kib = fma * kCodeKibPerFma + .2;
  return {.name = "colour fill", .passes = {pass}};
}

}  // namespace gputrace::simulated_gpu
