// gputrace doctor: what works on this machine, what does not, and what to do about it.
#include <fmt/format.h>

#include "cli/commands/arguments.h"
#include "cli/commands/command.h"
#include "cli/commands/doctor/diagnosis.h"

namespace gputrace::commands {
namespace {

constexpr std::string_view kHelp =
    R"(Says what gputrace can record on this machine, what it cannot, and why.

Usage: gputrace doctor [OPTIONS]

Options:
  --gpu GPU       look at this GPU alone: number, PCI address, card, render node
                  or part of the name (`gputrace gpus` lists them)
  --json          print JSON (schema gputrace.doctor/1) instead of text
  -h, --help      this text

Every way to the registers and every sensor is tried once, as a recording would,
and timed. For each that does not work there is the reason, what a person can
do, and what a recording lacks without it. A GPU that is asleep
(runtime-suspended) is not touched: only what /sys says of it is shown. Drivers
are asked in processes of their own, so one that hangs or crashes is named and
the rest goes on.

Some answers differ for root: run it as the user who will record.

Exit status: 0 when a recording with registers is possible (on GPU, else on
any); 1 when not; 2 for a wrong command line.
)";

}  // namespace

Result<int> run_doctor(const std::vector<std::string>& arguments) {
  cxxopts::Options options("gputrace doctor");
  options.add_options()("gpu", "", cxxopts::value<std::string>())("json", "")("h,help", "");
  const Result<cxxopts::ParseResult> parsed = parse_arguments(options, arguments);
  if (!parsed) {
    return tl::unexpected(parsed.error());
  }
  if (parsed->count("help") > 0) {
    fmt::print("{}", kHelp);
    return 0;
  }
  std::string gpu;
  if (parsed->count("gpu") > 0) {
    gpu = (*parsed)["gpu"].as<std::string>();
  }
  if (gpu.starts_with("sim:")) {
    return fail(ErrorCode::kUsage,
                fmt::format("a simulated GPU needs nothing of the machine: `gputrace record --gpu "
                            "{} -- COMMAND` works as it is",
                            gpu));
  }
  const Result<Diagnosis> diagnosis = diagnose(Surroundings::of_system(), gpu);
  if (!diagnosis) {
    return tl::unexpected(diagnosis.error());
  }
  fmt::print("{}", parsed->count("json") > 0 ? diagnosis->json : diagnosis->text);
  return diagnosis->can_record ? 0 : 1;
}

}  // namespace gputrace::commands
