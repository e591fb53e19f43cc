// What each process had of the GPUs, from the kernel's counts of its DRM clients; and frame times.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "cli/analysis/readings.h"
#include "cli/report/report.h"
#include "daemon/store/session_reader.h"

namespace gputrace::commands {

/// Engine time of the stretch that is shown, and memory.
[[nodiscard]] Result<std::vector<report::Process>> processes_of(const store::SessionReader& session,
                                                                const analysis::TimeRange& shown,
                                                                std::int64_t session_start_ns);

/// Absent without a frame.
[[nodiscard]] std::optional<report::Frames> frames_of(std::span<const store::Frame> frames);

}  // namespace gputrace::commands
