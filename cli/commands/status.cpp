// gputrace status: how gputraced is, and what it does at the moment.
#include <fmt/format.h>

#include <cmath>
#include <nlohmann/json.hpp>
#include <string_view>

#include "cli/commands/arguments.h"
#include "cli/commands/command.h"
#include "cli/commands/daemon_connection.h"
#include "cli/report/terminal_text.h"

namespace gputrace::commands {
namespace {

constexpr std::string_view kHelp =
    R"(Says how gputraced is: its GPUs, recordings, storage and problems.

Usage: gputrace status [OPTIONS]

Options:
  --json          print a JSON object instead of text
  -h, --help      this text

A GPU is idle (nobody records it), sampling, gone (unplugged, or its driver is
unloaded; it is looked for each second), stuck (a read has not returned yet) or
dead (given up).

Exit status: 0 when gputraced answers; 1 with the reason when it is not
installed, does not run, or does not let you; 2 for a wrong command line.
)";

std::string safe(const std::string& text) {
  return report::escape_for_terminal(text, false);
}

std::string uptime_text(double seconds) {
  const auto whole = static_cast<std::int64_t>(std::llround(seconds));
  if (whole < 60) {
    return fmt::format("{} s", whole);
  }
  if (whole < 3600) {
    return fmt::format("{} min", whole / 60);
  }
  return whole < 86400 ? fmt::format("{} h {} min", whole / 3600, whole / 60 % 60)
                       : fmt::format("{} d {} h", whole / 86400, whole / 3600 % 24);
}

void print_text(const ipc::StatusReply& status) {
  fmt::print("{}, up {}, {:.1f} s of CPU time\n", safe(status.daemon), uptime_text(status.uptime_s),
             status.cpu_s);
  for (const ipc::RecorderEntry& gpu : status.recorders) {
    fmt::print("  GPU         {} ({}): {}", safe(gpu.gpu_name), safe(gpu.pci), safe(gpu.state));
    if (gpu.sessions > 0) {
      fmt::print(" at {:g} Hz for {} session{}", gpu.rate_hz, gpu.sessions,
                 gpu.sessions == 1 ? "" : "s");
    }
    fmt::print("\n");
  }
  if (status.recorders.empty()) {
    fmt::print("  GPU         none in use\n");
  }
  fmt::print("  recordings  {}, {} of them yours\n", status.recordings, status.your_recordings);
  fmt::print("  background  {}\n", status.background ? "on" : "off");
  fmt::print("  kept        {} of yours, limit {} (`gputrace list`)\n",
             format_bytes(status.your_bytes), format_bytes(status.your_byte_limit));
  fmt::print("  disk        {} free, {} of it in reserve\n", format_bytes(status.free_bytes),
             format_bytes(status.reserve_bytes));
  for (const std::string& problem : status.problems) {
    fmt::print("  problem     {}\n", safe(problem));
  }
}

void print_json(const ipc::StatusReply& status) {
  nlohmann::ordered_json json;
  json["daemon"] = status.daemon;
  json["uptime_s"] = status.uptime_s;
  json["cpu_s"] = status.cpu_s;
  json["gpus"] = nlohmann::ordered_json::array();
  for (const ipc::RecorderEntry& gpu : status.recorders) {
    json["gpus"].push_back({{"name", gpu.gpu_name},
                            {"pci", gpu.pci},
                            {"state", gpu.state},
                            {"rate_hz", gpu.sessions > 0 ? nlohmann::ordered_json(gpu.rate_hz)
                                                         : nlohmann::ordered_json()},
                            {"sessions", gpu.sessions}});
  }
  json["recordings"] = status.recordings;
  json["your_recordings"] = status.your_recordings;
  json["background"] = status.background;
  json["your_bytes"] = status.your_bytes;
  json["your_byte_limit"] = status.your_byte_limit;
  json["free_bytes"] = status.free_bytes;
  json["reserve_bytes"] = status.reserve_bytes;
  json["problems"] = status.problems;
  fmt::print("{}\n", json.dump(2, ' ', false, nlohmann::ordered_json::error_handler_t::replace));
}

}  // namespace

Result<int> run_status(const std::vector<std::string>& arguments) {
  cxxopts::Options options("gputrace status");
  options.add_options()("json", "")("h,help", "");
  const Result<cxxopts::ParseResult> parsed = parse_arguments(options, arguments);
  if (!parsed) {
    return tl::unexpected<Error>(parsed.error());
  }
  if (parsed->count("help") > 0) {
    fmt::print("{}", kHelp);
    return 0;
  }
  const Result<ipc::ControlClient> daemon = connect_to_daemon();
  if (!daemon) {
    return tl::unexpected<Error>(daemon.error());
  }
  const Result<ipc::ReceivedReply> answer = daemon->ask(ipc::StatusRequest{});
  if (!answer) {
    return tl::unexpected<Error>(answer.error());
  }
  const auto* status = std::get_if<ipc::StatusReply>(&answer->reply);
  if (status == nullptr) {
    return fail(ErrorCode::kCorrupt, "gputraced answered something else than its status");
  }
  if (parsed->count("json") > 0) {
    print_json(*status);
  } else {
    print_text(*status);
  }
  return 0;
}

}  // namespace gputrace::commands
