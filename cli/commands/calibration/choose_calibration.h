// Which calibration of this machine speaks of a recording: the newest that fits.
#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "cli/analysis/calibration.h"
#include "cli/commands/calibration/load_calibration.h"
#include "daemon/base/result.h"
#include "daemon/sampler/gpu_identity.h"
#include "daemon/store/session_reader.h"

namespace gputrace::commands {

/// On what a recording was made: the GPU of its longest segment, the Vulkan driver that it says
/// something of, mean clock and power of the time in which the GPU was under load (where there was
/// none, and where it is longer than a week: of all of it). kInvalidArgument for a file without
/// samples.
[[nodiscard]] Result<analysis::Conditions> conditions_of(const store::SessionReader& recording);

/// The GPU of the longest segment; null without one.
[[nodiscard]] const sampler::GpuIdentity* recorded_gpu(const store::SessionReader& recording);

/// A cell in which the GPU was busy for at least this share is one under load.
inline constexpr double kLoadedShare = 0.5;
/// Which cells of store::kCellNs were under load.
struct LoadCells {
  std::int64_t first_ns = 0;
  std::vector<bool> loaded;
};
/// The same for who has counted the cells already, which is most of the work.
[[nodiscard]] Result<analysis::Conditions> conditions_of(const store::SessionReader& recording,
                                                         const LoadCells& cells);

/// The files of kind calibration in the folder, newest first; those that cannot be read are left
/// out. Empty without a folder.
[[nodiscard]] std::vector<std::filesystem::path> find_calibrations(
    const std::filesystem::path& machine_folder);

struct RefusedCalibration {
  std::filesystem::path file;
  std::string why;  ///< one sentence
};

struct CalibrationChoice {
  std::optional<analysis::Calibration> calibration = std::nullopt;
  analysis::CalibrationFit fit;  ///< of `calibration`
  /// Newer ones that do not fit, or cannot be read; not those of simulated GPUs for real ones.
  std::vector<RefusedCalibration> refused;
};

using LoadCalibration = Result<analysis::Calibration> (*)(const std::filesystem::path& file);

/// The newest that analysis::fit_of() takes, scaled or as it is. `load`: load_calibration, or the
/// quicker load_kept_summary.
[[nodiscard]] CalibrationChoice choose_calibration(const std::filesystem::path& machine_folder,
                                                   const analysis::Conditions& recording,
                                                   LoadCalibration load = &load_calibration);

}  // namespace gputrace::commands
