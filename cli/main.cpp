#include <fmt/format.h>

#include <array>
#include <cstdio>
#include <exception>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "cli/commands/command.h"
#include "cli/report/terminal_text.h"

namespace gputrace {
namespace {

constexpr auto kCommands = std::to_array<commands::Command>({
    {"bench", "Measure one property of a GPU at a time, with proofs", commands::run_bench},
    {"calibrate", "Learn what known workloads do to a GPU's busy bits", commands::run_calibrate},
    {"compare", "Say what differs between recordings, and whether it is real",
     commands::run_compare},
    {"decode", "Say what the bits of GPU status registers mean", commands::run_decode},
    {"doctor", "Say what works on this machine, what does not, and what to do",
     commands::run_doctor},
    {"fetch", "Take recordings from gputraced that it still keeps for you", commands::run_fetch},
    {"gpus", "List GPUs and what can be read from each", commands::run_gpus},
    {"import", "Turn a recording of another tool into a session", commands::run_import},
    {"kernels", "Check the kernels' formulas against the code that the driver compiles",
     commands::run_kernels},
    {"list", "List your sessions, newest first", commands::run_list},
    {"mark", "Note a moment in your recordings that gputraced runs", commands::run_mark},
    {"record", "Record a GPU while a command runs", commands::run_record},
    {"report", "Say how busy each unit was, how surely, and when", commands::run_report},
    {"roofline", "Measure the ceilings of a GPU, and what is reached below them",
     commands::run_roofline},
    {"sql", "Run an SQL query on a session", commands::run_sql},
    {"status", "Say how gputraced is and what it records", commands::run_status},
});

void print_help() {
  fmt::print(
      "gputrace says what a program on an AMD GPU is waiting for.\n\n"
      "Usage: gputrace COMMAND [OPTIONS]\n\nCommands:\n");
  for (const commands::Command& command : kCommands) {
    fmt::print("  {:<9} {}\n", command.name, command.summary);
  }
  fmt::print(
      "\n`gputrace COMMAND --help` explains a command. Start with `gputrace record -- YOUR_GAME`,\n"
      "then `gputrace report`.\n");
}

int run(std::span<const char* const> argv) {
  const std::string_view first = argv.size() > 1 ? argv[1] : "--help";
  if (first == "--help" || first == "-h" || first == "help") {
    print_help();
    return argv.size() > 1 ? 0 : 2;
  }
  if (first == "--version") {
    fmt::print("gputrace {}\n", GPUTRACE_VERSION);
    return 0;
  }
  for (const commands::Command& command : kCommands) {
    if (command.name != first) {
      continue;
    }
    const std::vector<std::string> arguments(argv.begin() + 2, argv.end());
    const Result<int> status = command.run(arguments);
    if (status) {
      return *status;
    }
    // Messages quote names of files and words of the command line as they are.
    fmt::print(stderr, "gputrace {}: {}\n", first,
               report::escape_for_terminal(status.error().message, false));
    if (status.error().code == ErrorCode::kUsage) {
      fmt::print(stderr, "Try `gputrace {} --help`.\n", first);
      return 2;
    }
    return 1;
  }
  fmt::print(stderr, "gputrace: '{}' is not a command. Try `gputrace --help`.\n",
             report::escape_for_terminal(first, false));
  return 2;
}

}  // namespace
}  // namespace gputrace

int main(int argc, char** argv) {
  try {
    return gputrace::run(std::span<const char* const>(argv, static_cast<std::size_t>(argc)));
  } catch (const std::exception& error) {
    std::fprintf(stderr, "gputrace: internal error: %s\n", error.what());
    return 1;
  }
}
