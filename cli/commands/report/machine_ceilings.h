// Ceilings of a machine without a calibration: those of its newest roofline, else of its newest
// bench that measured some.
#pragma once

#include <filesystem>
#include <optional>
#include <string>

#include "cli/analysis/calibration.h"
#include "cli/analysis/roofline.h"

namespace gputrace::commands {

struct MeasuredCeilings {
  std::filesystem::path file;
  std::string started_at;
  std::optional<std::string> driver;  ///< of Vulkan
  bool simulated = false;
  bool from_bench = false;  ///< else from a roofline
  analysis::Roofline roofline;
  std::optional<analysis::Ceiling> compute;
  std::optional<analysis::Ceiling> bandwidth;
  analysis::CalibrationFit fit;
};

/// Of the newest file of kind roofline in the folder whose GPU, clock and power fit the recording,
/// else of kind bench.
/// Files that cannot be read are left out.
[[nodiscard]] std::optional<MeasuredCeilings> newest_ceilings(
    const std::filesystem::path& machine_folder, const analysis::Conditions& recording);

/// Of one ceiling of each kind, or none.
[[nodiscard]] analysis::Roofline roofline_of(const std::optional<analysis::Ceiling>& compute,
                                             const std::optional<analysis::Ceiling>& bandwidth);

}  // namespace gputrace::commands
