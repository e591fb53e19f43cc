// The command line of `gputrace calibrate`.
#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "cli/commands/bench/measuring_options.h"
#include "daemon/base/result.h"

namespace gputrace::commands {

struct CalibrateOptions : MeasuringOptions {
  bool help = false;
  bool validate = false;
  std::optional<std::filesystem::path> calibration;  ///< validated in place of a new one
};

/// kUsage for --calibration without --validate.
[[nodiscard]] Result<CalibrateOptions> parse_calibrate_options(
    const std::vector<std::string>& arguments);

[[nodiscard]] std::string calibrate_help();

}  // namespace gputrace::commands
