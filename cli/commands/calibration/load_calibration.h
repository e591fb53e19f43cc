// Calibrations in session files: a calibration of `gputrace calibrate`, and the summary of one that
// `record` leaves in a recording.
#pragma once

#include <filesystem>
#include <optional>

#include "cli/analysis/calibration.h"
#include "daemon/base/result.h"
#include "daemon/store/session_reader.h"

namespace gputrace::commands {

/// Of a file of kind calibration: busy fractions are counted now, from the samples between the
/// begin and the end of each workload. Workloads without samples have no units. Also of a recording
/// with a summary. Errors: those of SessionReader::open; kInvalidArgument for a file of another
/// kind or without any workload, which says how to make one.
[[nodiscard]] Result<analysis::Calibration> load_calibration(const std::filesystem::path& file);

/// The summary that `calibrate` left in its file, which costs next to nothing to read; of a file
/// without one what load_calibration() counts. Errors as there.
[[nodiscard]] Result<analysis::Calibration> load_kept_summary(const std::filesystem::path& file);

/// What `record` left in a recording; absent where there is none.
[[nodiscard]] Result<std::optional<analysis::Calibration>> load_summary(
    const store::SessionReader& recording);

}  // namespace gputrace::commands
