#include "cli/analysis/bottleneck/dram_use.h"

#include <algorithm>

#include "cli/analysis/bottleneck/rules.h"

namespace gputrace::analysis {

std::optional<DramUse> dram_use(const std::optional<MemoryWitness>& witness, double active) {
  // Frames with pauses move their bytes while the GPU works. Much longer pauses are the class cpu.
  const double working = std::clamp(active, kBusyGpu, 1.0);
  if (witness && witness->gbps && witness->ceiling_gbps && *witness->ceiling_gbps > 0) {
    return DramUse{.share = *witness->gbps / *witness->ceiling_gbps / working,
                   .of_theoretical = false};
  }
  if (witness && witness->activity) {
    return DramUse{.share = *witness->activity / working, .of_theoretical = true};
  }
  return std::nullopt;
}

DramLimits dram_limits(const DramUse& use) {
  // Model: streams, fills and random fetches reach 70 to 83 GB/s where a copy, the usual ceiling,
  // reaches 73; a pass that reads as much as it writes reaches 0.81 of the theoretical peak
  // (published: 73 of 89.6 GB/s). Frames whose speed follows DRAM are at 0.77 of the ceiling
  // and above. Assumed: below 0.60 a stretch has room for half as much again.
  constexpr double kReachable = 0.81;
  const double scale = use.of_theoretical ? kReachable : 1;
  return {.full = 0.80 * scale, .free = 0.60 * scale};
}

}  // namespace gputrace::analysis
