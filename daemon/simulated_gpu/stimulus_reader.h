// What a mark says of a kernel, read from its text.
#pragma once

#include <nlohmann/json_fwd.hpp>

#include "daemon/base/result.h"

namespace gputrace::simulated_gpu {

enum class Access { kNone, kStream, kResident, kRandom, kChase, kTexture, kRandomTexture, kAtomic };

/// The model has no path of its own for constants and texel buffers: AMD reads both through TA and
/// L0.
enum class ReadFrom { kVector, kScalar, kSampled, kLocal };

/// The members that stimulus.h lists.
struct Stimulus {
  bool pixels = false;
  double threads = 0;
  double launches = 1;
  int group_threads = 0;
  int waves_per_simd = 0;
  int max_groups = 0;
  double steps = 1;
  double issue_share = 0;  ///< of 256 operations a clk and CU, the peak of dual-issued fp32
  double flops = 0;
  Access access = Access::kNone;
  ReadFrom path = ReadFrom::kVector;
  double read_bytes = 0;
  double written_bytes = 0;
  double footprint_bytes = 0;
  double stride_bytes = 0;
  double local_bytes = 0;
  double group_local_bytes = 0;
  double sharers = 1;
  double code_bytes = 0;
  double fetches = 0;
  bool bilinear = false;
  double overdraw = 1;
};

[[nodiscard]] Result<Stimulus> read_stimulus(const nlohmann::json& document);

}  // namespace gputrace::simulated_gpu
