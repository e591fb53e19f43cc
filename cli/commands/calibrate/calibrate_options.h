// The command line of `gputrace calibrate`.
#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "cli/report/render_text.h"
#include "daemon/base/result.h"

namespace gputrace::commands {

struct CalibrateOptions {
  bool help = false;
  std::string device;
  std::string gpu;
  bool quick = false;
  bool json = false;
  bool save = true;
  bool validate = false;
  std::optional<std::filesystem::path> calibration;  ///< validated in place of a new one
  report::TextOptions text;
};

/// kUsage for --calibration without --validate.
[[nodiscard]] Result<CalibrateOptions> parse_calibrate_options(
    const std::vector<std::string>& arguments);

[[nodiscard]] std::string calibrate_help();

}  // namespace gputrace::commands
