// How near DRAM was to its limit, of what memory's witness says.
#pragma once

#include <optional>

#include "cli/analysis/bottleneck.h"

namespace gputrace::analysis {

/// DRAM traffic as a share of what a measured ceiling, or the theoretical peak, allows.
struct DramUse {
  double share = 0;
  bool of_theoretical = false;
};

/// `active`: share of the time in which the GPU worked. Absent where the witness has neither bytes
/// with a ceiling nor activity.
[[nodiscard]] std::optional<DramUse> dram_use(const std::optional<MemoryWitness>& witness,
                                              double active);

/// From `full` on bandwidth is the limit, below `free` it is not.
struct DramLimits {
  double full = 0;
  double free = 0;
};
[[nodiscard]] DramLimits dram_limits(const DramUse& use);

}  // namespace gputrace::analysis
