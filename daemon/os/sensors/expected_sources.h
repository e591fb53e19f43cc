// The sources that some GPU of amdgpu has, and why another has none: for findings about what is
// missing.
#pragma once

#include <filesystem>
#include <span>
#include <vector>

#include "daemon/os/sensors/sensors.h"

namespace gputrace::os {

/// A finding for each known file that is not among `findings`.
[[nodiscard]] std::vector<SourceFinding> absent_sources(const std::filesystem::path& device_dir,
                                                        bool has_hwmon, bool is_apu,
                                                        std::span<const SourceFinding> findings);

}  // namespace gputrace::os
