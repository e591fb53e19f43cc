// Kernels of the benches as the simulated GPU plays them: what a mark says of a kernel becomes a
// pass of the model, and the model says how long it takes. The text may be hostile.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <string_view>

#include "daemon/base/result.h"
#include "daemon/simulated_gpu/clock_solver.h"
#include "daemon/simulated_gpu/scenario.h"
#include "daemon/simulated_gpu/workload.h"

namespace gputrace::simulated_gpu {

struct PlayedStimulus {
  Workload workload;    ///< one launch; the host's pause of a run is spread over its launches
  double launches = 1;  ///< of a run
};

/// A JSON object of these members, all but `threads` optional; a number not said is 0:
///   kernel "sweep.n16" (at most 200 bytes) | pixels true: full-screen pixels, else compute threads
///   threads: or pixels, of all launches of the run, overdraw counted | launches 1
///   group_threads (256; a multiple of 64, or less) | steps 1: dependent memory steps a thread
///   waves_per_simd, max_groups: limits on what is in flight; 0 = none
///   flops: a thread, operations of integers | code_bytes 0 = fits the instruction cache
///   arithmetic "fp32" | "fp32_special" | "fp16" | "fp16_packed" | "fp64" | "int16" |
///     "int16_packed" | "int24" | "int32" | "int32_add" | "int64" | "int8_dot" | "matrix"
///   path "vector" | "scalar" | "constant" | "texel" | "image" | "sampled" | "local"
///   access "none" | "stream" | "resident" | "random" | "chase" | "texture" | "random_texture" |
///     "atomic"
///   read_bytes, written_bytes: a thread | footprint_bytes: all but none and stream need it
///   stride_bytes: of a chase, from node to node; 0 = 64 bytes or less
///   local_bytes: a thread, in local memory | group_local_bytes: a group takes of it
///   sharers 1: threads that meet at one word with atomics, lanes at one bank of local memory
///   dram_bytes: a thread; for those who read the mark, nothing is played of it
///   fetches, bilinear false: of textures | overdraw 1: layers of pixels over each other
/// How the model reads them is said in stimulus.cpp and docs/methodology.md.
[[nodiscard]] Result<PlayedStimulus> parse_stimulus(std::string_view text,
                                                    const GpuDescription& gpu);

/// One run of a stimulus: all its launches in one submission.
struct StimulusRun {
  double gpu_ns = 0;   ///< from the begin of the first launch to the end of the last
  double host_ns = 0;  ///< from one run's end to the next one's begin
  double clock_ghz = 0;
  double power_w = 0;
};

/// How long stimuli take at the scenario's power limit. The same text gives the same time; the
/// scenario's seed decides about its small chance.
class StimulusTimes {
 public:
  explicit StimulusTimes(const Scenario& scenario);
  [[nodiscard]] Result<StimulusRun> run(std::string_view text);

 private:
  GpuDescription gpu_;
  double power_limit_w_;
  std::uint64_t seed_;
  std::map<std::string, StimulusRun, std::less<>> runs_;
  std::map<std::uint64_t, OperatingPoint> launches_;  ///< by fingerprint
};

}  // namespace gputrace::simulated_gpu
