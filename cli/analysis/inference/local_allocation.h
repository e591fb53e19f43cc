// How local memory is given to groups: cores, bytes a core and rounding, from how many groups are
// in flight by the bytes that each takes.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "cli/analysis/bench_result.h"

namespace gputrace::analysis {

struct LocalPoint {
  std::uint32_t bytes = 0;   ///< of local memory, a group
  std::uint32_t groups = 0;  ///< in flight, at least
  std::uint32_t most_groups = 0;
};

/// One way to come to every count.
struct LocalExplanation {
  std::uint32_t cores = 0;
  std::uint64_t core_bytes = 0;   ///< the fewest
  std::uint64_t below_bytes = 0;  ///< fewer than these
  std::uint32_t rounding = 0;     ///< sizes are rounded up to multiples of it; 0 = to powers of two
  std::uint32_t reserved = 0;     ///< that each group takes beside its own

  [[nodiscard]] std::uint64_t total_bytes() const { return cores * core_bytes; }
};

/// Every explanation that fits all points. Groups that something else limits are those of the
/// largest count. Empty: none fits, or local memory never limited what is in flight.
[[nodiscard]] std::vector<LocalExplanation> explain_local_allocation(
    std::span<const LocalPoint> points);

/// Appends "local.total", and where only one split of it fits "local.core", "local.cores" and
/// "local.rounding", to a test with groups in flight by bytes ("local.allocation").
void infer_local_allocation(TestResult& test);

}  // namespace gputrace::analysis
