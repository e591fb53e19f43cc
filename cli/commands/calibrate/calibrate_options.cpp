#include "cli/commands/calibrate/calibrate_options.h"

#include <string_view>

#include "cli/commands/arguments.h"

namespace gputrace::commands {

namespace {

constexpr std::string_view kHelp =
    R"(Runs workloads whose arithmetic and memory traffic are known, and samples the
GPU's busy bits meanwhile: streams, arithmetic intensity from 0.25 to 512
FLOP/B, pointer chases, pixels, textures, atomics, few groups, in several group
sizes.
`gputrace report` reads a recording's place on the roofline from it, and names
the workload that a phase is like.

Usage: gputrace calibrate [OPTIONS]
       gputrace calibrate --validate [--calibration FILE] [OPTIONS]

Options:
  --device D         Vulkan device: number, PCI address or a part of its name
                     (default: the first that is no CPU)
  --gpu GPU          the GPU to sample: the one of that device (default), or
                     sim:780m: no Vulkan at all, a simulated GPU runs the
                     kernels
  --quick            half a second a workload instead of two, and fewer of them
  --validate         run workloads of known work that no calibration has seen as
                     well, and print their true place and class beside those
                     that the calibration tells
  --calibration FILE validate this one, and make none
  --json             print JSON (schema gputrace.calibration/1)
  --no-save          store nothing
  --color WHEN       always, never or auto (default: in a terminal, unless
                     NO_COLOR is set or TERM is dumb)
  --ascii            nothing beyond ASCII (default when the locale is not UTF-8)
  -h, --help         this text

A calibration holds for its GPU, driver, clock and power level: make one as you
play, on mains or on battery, with the power limit that you use. It is stored as
a session (`gputrace list --all`). Reports take the newest that fits, or the one
of `report --calibration FILE`; `record` copies a summary of it into each
session. It takes about six minutes, with --quick one.

Examples:
  gputrace calibrate --validate

Exit status: 0; 1 without a Vulkan device or a GPU that can be sampled, after
Ctrl-C (what was measured is printed and stored), and when a result was wrong or
the device was lost; 2 for a wrong command line.
)";

}  // namespace

std::string calibrate_help() {
  return std::string(kHelp);
}

Result<CalibrateOptions> parse_calibrate_options(const std::vector<std::string>& arguments) {
  cxxopts::Options parser("gputrace calibrate");
  add_measuring_options(parser);
  // clang-format off
  parser.add_options()
    ("validate", "")
    ("calibration", "", cxxopts::value<std::string>())
    ("h,help", "");
  // clang-format on
  const auto parsed = parse_arguments(parser, arguments);
  if (!parsed) {
    return tl::unexpected(parsed.error());
  }
  CalibrateOptions options;
  options.help = parsed->count("help") > 0;
  if (options.help) {
    return options;
  }
  if (const Status taken = take_measuring_options(*parsed, options); !taken) {
    return tl::unexpected(taken.error());
  }
  options.validate = parsed->count("validate") > 0;
  if (parsed->count("calibration") > 0) {
    options.calibration = (*parsed)["calibration"].as<std::string>();
  }
  if (options.calibration && !options.validate) {
    return fail(ErrorCode::kUsage,
                "--calibration names the one to validate; without --validate one is made");
  }
  return options;
}

}  // namespace gputrace::commands
