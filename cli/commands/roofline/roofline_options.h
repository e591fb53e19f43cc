// The command line of `gputrace roofline`.
#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "cli/commands/bench/measuring_options.h"
#include "cli/commands/roofline/power_command.h"
#include "cli/commands/roofline/power_sweep.h"
#include "daemon/base/result.h"

namespace gputrace::commands {

struct PowerOptions {
  std::vector<std::uint32_t> levels;  ///< W, never empty
  PowerCommand command;
  std::uint32_t restore_watts = 0;
  double max_temperature_c = kDefaultMaxTemperatureC;
  bool dry_run = false;
};

struct RooflineOptions : MeasuringOptions {
  bool help = false;
  bool article = false;  ///< --method article
  std::optional<std::filesystem::path> svg;
  std::optional<PowerOptions> power;
};

/// kUsage for what makes no sense together.
[[nodiscard]] Result<RooflineOptions> parse_roofline_options(
    const std::vector<std::string>& arguments);

[[nodiscard]] std::string roofline_help();

}  // namespace gputrace::commands
