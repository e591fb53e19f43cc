// What the marks of a bench's points say: which workload ran when, and what it is made of.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "cli/analysis/stimulus_matrix.h"
#include "daemon/store/session.h"

namespace gputrace::commands {

struct WorkloadMark {
  std::int64_t begin_ns = 0;
  std::int64_t end_ns = 0;
  analysis::StimulatedPoint stimulus;  ///< label "sweep.n16.g64"; no units
  std::uint32_t group_threads = 0;
  std::optional<double> dram_bytes = std::nullopt;  ///< a thread
};

/// In order of time. A begin whose text is not what gputrace writes, and one without an end, are
/// left out.
[[nodiscard]] std::vector<WorkloadMark> workload_marks(std::span<const store::Event> events);

/// The one that was running from `start_ns` to `end_ns`; null without one.
[[nodiscard]] const WorkloadMark* mark_at(std::span<const WorkloadMark> marks,
                                          std::int64_t start_ns, std::int64_t end_ns);

}  // namespace gputrace::commands
