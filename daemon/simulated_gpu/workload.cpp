#include "daemon/simulated_gpu/workload.h"

#include <algorithm>

namespace gputrace::simulated_gpu {

VectorMemoryStep stream_read(double bytes) {
  VectorMemoryStep step;
  step.lines = bytes / kLineBytes;
  step.sectors = bytes / kSectorBytes;
  step.address_cycles = std::max(0.0625, bytes / kSectorBytes);
  step.tlb_misses = bytes / kPageBytes;
  return step;
}

VectorMemoryStep random_read(const GpuDescription& gpu, double footprint_kib, double lines,
                             double sectors, double address_cycles) {
  // Uniform random places: a level that holds `kib` of the footprint misses on the rest. The ratios
  // of the outer levels are conditional on a miss of the inner ones.
  const auto miss = [&](double kib) { return std::max(0.0, 1 - kib / footprint_kib); };
  const double l0 = miss(gpu.l0_kib);
  const double gl1 = miss(gpu.gl1_array_kib);
  const double gl2 = miss(gpu.gl2_kib);
  VectorMemoryStep step;
  step.random = true;
  step.lines = lines;
  step.sectors = sectors;
  step.address_cycles = address_cycles;
  step.l0_miss = l0;
  step.gl1_miss = l0 > 0 ? gl1 / l0 : 0;
  step.gl2_miss = gl1 > 0 ? gl2 / gl1 : 0;
  step.tlb_misses = lines * miss(gpu.tlb1_reach_kib);
  return step;
}

}  // namespace gputrace::simulated_gpu
