// What the simulated GPU is given to do: passes of threads or pixels with their work and traffic.
// Numbers of requests, bytes and FLOPs go in; busy fractions come out.
#pragma once

#include <string>
#include <vector>

#include "daemon/simulated_gpu/gpu_description.h"

namespace gputrace::simulated_gpu {

inline constexpr double kLineBytes = 128;   ///< RDNA cache line
inline constexpr double kSectorBytes = 64;  ///< what a miss of L0 asks for
inline constexpr int kWaveThreads = 64;
inline constexpr double kPageBytes = 65536;  ///< [A] what an entry of the first TLB covers

enum class ReadPath {
  kVector,
  kScalar,  ///< one line for the whole wave; TA and L0 do not see it
};

/// One dependent memory step of a wave. Amounts are per thread.
struct VectorMemoryStep {
  double lines = 0;              ///< lines looked up in L0; 0 = the step reads nothing
  double sectors = 0;            ///< sectors fetched when all lines miss L0
  double address_cycles = 0.25;  ///< cycles of the texture addresser
  double l0_miss = 1;            ///< miss ratios
  double gl1_miss = 1;
  double gl2_miss = 1;
  bool random = false;    ///< misses come evenly instead of in clumps
  double tlb_misses = 0;  ///< of the first level, whatever the caches hold
  ReadPath path = ReadPath::kVector;
  double filter_clk = 0;  ///< that a sampler adds
};

/// A dispatch, or a render pass.
struct Pass {
  bool pixel = false;       ///< pixels behind the graphics front end instead of threads
  double threads = 0;       ///< or pixels
  int group_threads = 256;  ///< that start together
  int steps = 1;            ///< dependent memory steps, each followed by its share of the FLOPs
  VectorMemoryStep read;
  double store_bytes = 0;     ///< a thread, compute only
  double store_gl2_miss = 1;  ///< of the stored bytes: what GL2 passes on to DRAM
  double local_cycles = 0;    ///< of a CU's local memory, a thread and step; 0 = not used
  double group_local_bytes = 0;
  double flops = 0;            ///< a thread
  double issue_share = 0.588;  ///< of dual issue that this code reaches [C 4,700 GFLOPS at 2.6 GHz]
  double code_kib = 4;
  int waves_per_simd = 16;
  int max_groups = 0;       ///< in flight; 0 = as many as fit
  double command_us = 1.0;  ///< command processor time a draw or dispatch

  // Graphics only.
  double triangles = 0;
  double draws = 1;
  double vertex_bytes = 32;
  double colour_write_bytes = 0;  ///< a pixel
  double colour_read_bytes = 0;   ///< blending
  double depth_bytes = 0;
  double colour_dram_share = 1;  ///< of the bytes: what L2 does not keep
  double depth_dram_share = 0.5;
  bool interpolants = true;
};

/// What repeats: a frame, or one dispatch with the host's pause before it.
struct Workload {
  std::string name;
  std::vector<Pass> passes;  ///< none: the GPU idles
  double gap_us = 150;  ///< from the end of the work to the host's next submit [A: 0.1 to 0.2 ms]
  double cpu_ms = 0;    ///< the frame takes at least this long
  double cpu_w = 0;     ///< taken from the power limit
  double frame_cap_fps = 0;  ///< 0 = none
  double weight_spread = 0;  ///< frames weigh 1 +- this
  /// Of a single pass about so many steps of waves are run and the rest repeats their middle; 0 =
  /// 8,000 groups.
  double max_wave_steps = 0;
};

/// Reads `bytes` a thread from memory that nothing has touched before.
[[nodiscard]] VectorMemoryStep stream_read(double bytes);
/// Reads at random places of a footprint: hits are the share of it that a level holds.
[[nodiscard]] VectorMemoryStep random_read(const GpuDescription& gpu, double footprint_kib,
                                           double lines, double sectors, double address_cycles);

}  // namespace gputrace::simulated_gpu
