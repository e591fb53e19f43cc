#include "cli/commands/roofline/roofline_options.h"

#include <fmt/format.h>

#include <string_view>

#include "cli/commands/arguments.h"
#include "daemon/simulated_gpu/simulated_gpu.h"

namespace gputrace::commands {

namespace {

constexpr std::string_view kHelp =
    R"(Measures a GPU's ceilings with Vulkan kernels: peak rate of each kind of
arithmetic, bandwidth of memory and of each cache level, and what is reached in
between. The kernels' own counts of FLOPs and bytes are checked against their
results and, where the driver shows its code, against the instructions.

Usage: gputrace roofline [OPTIONS]
       gputrace roofline --power W,W,... --set-power CMD --restore-power W
                         [--max-temp C] [--dry-run] [OPTIONS]

Options:
  --device D        Vulkan device: number, PCI address or a part of its name
                    (default: the first that is no CPU)
  --gpu GPU         the GPU to sample meanwhile (default: the same), or
                    sim:780m: no Vulkan at all, a simulated GPU runs the kernels
  --quick           seconds instead of minutes
  --method METHOD   gputrace (default), or article: the two kernels of a much
                    read article on the Radeon 780M, counted in its way and in
                    ours
  --json            print JSON (schema gputrace.bench/1)
  --svg FILE        draw the roofline into FILE as well, replacing it
  --no-save         store nothing
  --color WHEN      always, never or auto (default: in a terminal, unless
                    NO_COLOR is set or TERM is dumb)
  --ascii           nothing beyond ASCII (default when the locale is not UTF-8)
  -h, --help        this text

Power sweep:
  --power W,W,...     peak and copy bandwidth at each of these power limits
  --set-power CMD     sets a limit: {watts} stands for it. Cut into words as a
                      shell would and executed without a shell, as you, also
                      under sudo. Whole watts: {watts}000 is milliwatts
  --restore-power W   the limit to set at the end, after an error, Ctrl-C and
                      SIGTERM: the one before cannot be read
  --max-temp C        end the sweep above this temperature (default 95)
  --dry-run           print the commands and do nothing

Examples:
  gputrace roofline --quick
  gputrace roofline --svg roofline.svg
  gputrace roofline --gpu sim:780m --quick --json
  gputrace roofline --power 15,25,35,54 --restore-power 54 --dry-run
      --set-power 'sudo ryzenadj --stapm-limit={watts}000'

Exit status: 0; 1 without a Vulkan device, after Ctrl-C (what was measured is
printed and stored), and when a result was wrong or the device was lost; 2 for a
wrong command line.
)";

Result<std::vector<std::uint32_t>> parse_levels(std::string_view text) {
  std::vector<std::uint32_t> levels;
  while (true) {
    const std::size_t comma = text.find(',');
    const auto watts = parse_watts(text.substr(0, comma));
    if (!watts) {
      return fail(watts.error(), "--power");
    }
    levels.push_back(*watts);
    if (comma == std::string_view::npos) {
      return levels;
    }
    text.remove_prefix(comma + 1);
  }
}

Status no_power_options(const cxxopts::ParseResult& parsed) {
  for (const char* name : {"set-power", "restore-power", "max-temp", "dry-run"}) {
    if (parsed.count(name) > 0) {
      return fail(ErrorCode::kUsage, fmt::format("--{} is a part of a sweep with --power", name));
    }
  }
  return {};
}

Result<PowerOptions> parse_power(const cxxopts::ParseResult& parsed) {
  for (const char* name : {"set-power", "restore-power"}) {
    if (parsed.count(name) == 0) {
      return fail(ErrorCode::kUsage, fmt::format("--power needs --{}", name));
    }
  }
  PowerOptions power;
  auto levels = parse_levels(parsed["power"].as<std::string>());
  if (!levels) {
    return tl::unexpected(levels.error());
  }
  auto command = PowerCommand::parse(parsed["set-power"].as<std::string>());
  if (!command) {
    return tl::unexpected(command.error());
  }
  const auto restore = parse_watts(parsed["restore-power"].as<std::string>());
  if (!restore) {
    return fail(restore.error(), "--restore-power");
  }
  power.levels = std::move(*levels);
  power.command = std::move(*command);
  power.restore_watts = *restore;
  power.max_temperature_c = parsed["max-temp"].as<double>();
  power.dry_run = parsed.count("dry-run") > 0;
  if (!(power.max_temperature_c > 0 && power.max_temperature_c <= 150)) {
    return fail(ErrorCode::kUsage, "--max-temp wants degrees Celsius up to 150");
  }
  return power;
}

Status check_together(const RooflineOptions& options) {
  if (!options.power) {
    return {};
  }
  const auto refuse = [](const char* what) {
    return fail(ErrorCode::kUsage, fmt::format("--power and {} do not go together", what));
  };
  if (simulated_gpu::is_simulated_argument(options.gpu)) {
    return refuse("a simulated GPU, whose limit no command sets,");
  }
  if (options.article) {
    return refuse("--method article");
  }
  return options.svg ? refuse("--svg") : Status();
}

}  // namespace

std::string roofline_help() {
  return std::string(kHelp);
}

Result<RooflineOptions> parse_roofline_options(const std::vector<std::string>& arguments) {
  cxxopts::Options parser("gputrace roofline");
  add_measuring_options(parser);
  const auto given = [] { return cxxopts::value<std::string>(); };
  // clang-format off
  parser.add_options()
    ("method", "", cxxopts::value<std::string>()->default_value("gputrace"))
    ("svg", "", given())
    ("power", "", given())
    ("set-power", "", given())
    ("restore-power", "", given())
    ("max-temp", "", cxxopts::value<double>()->default_value("95"))
    ("dry-run", "")
    ("h,help", "");
  // clang-format on
  const auto parsed = parse_arguments(parser, arguments);
  if (!parsed) {
    return tl::unexpected(parsed.error());
  }
  RooflineOptions options;
  options.help = parsed->count("help") > 0;
  if (options.help) {
    return options;
  }
  if (const Status taken = take_measuring_options(*parsed, options); !taken) {
    return tl::unexpected(taken.error());
  }
  const auto method = (*parsed)["method"].as<std::string>();
  if (method != "gputrace" && method != "article") {
    return fail(ErrorCode::kUsage, "--method wants gputrace or article, not '" + method + "'");
  }
  options.article = method == "article";
  if (parsed->count("svg") > 0) {
    options.svg = (*parsed)["svg"].as<std::string>();
  }
  if (parsed->count("power") > 0) {
    auto power = parse_power(*parsed);
    if (!power) {
      return tl::unexpected(power.error());
    }
    options.power = std::move(*power);
  } else if (const Status alone = no_power_options(*parsed); !alone) {
    return tl::unexpected(alone.error());
  }
  if (const Status together = check_together(options); !together) {
    return tl::unexpected(together.error());
  }
  return options;
}

}  // namespace gputrace::commands
