// What the marks of a bench's points say: which workload ran when, and what it is made of.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "daemon/store/session.h"

namespace gputrace::commands {

/// The stimulus of a point, as far as calibrations need it; amounts are those of a thread.
struct WorkloadMark {
  std::int64_t begin_ns = 0;
  std::int64_t end_ns = 0;
  std::string label;  ///< "sweep.n16.g64"
  std::uint32_t group_threads = 0;
  double flops = 0;
  std::optional<double> dram_bytes = std::nullopt;
  double footprint_bytes = 0;
};

/// In order of time. A begin whose text is not what gputrace writes, and one without an end, are
/// left out.
[[nodiscard]] std::vector<WorkloadMark> workload_marks(std::span<const store::Event> events);

/// The one that was running from `start_ns` to `end_ns`; null without one.
[[nodiscard]] const WorkloadMark* mark_at(std::span<const WorkloadMark> marks,
                                          std::int64_t start_ns, std::int64_t end_ns);

}  // namespace gputrace::commands
