// gputrace mark: an event in the recordings that gputraced runs for this user.
#include <fmt/format.h>

#include <optional>
#include <string_view>

#include "cli/commands/arguments.h"
#include "cli/commands/command.h"
#include "cli/commands/daemon_connection.h"

namespace gputrace::commands {
namespace {

constexpr std::string_view kHelp =
    R"(Notes the moment in every recording of yours that gputraced runs.

Usage: gputrace mark TEXT

TEXT is kept as an event of kind "mark", to find the moment again:
`gputrace sql "SELECT * FROM events"` lists them. Recordings that `gputrace
record` makes by itself, without gputraced, cannot be marked.

Options:
  -h, --help      this text

Put `gputrace mark "boss fight"` on a key of the desktop, or into the script
that drives a benchmark.

Exit status: 0 when a recording was marked; 1 when there is none, or no
gputraced; 2 for a wrong command line.
)";

}  // namespace

Result<int> run_mark(const std::vector<std::string>& arguments) {
  cxxopts::Options options("gputrace mark");
  options.add_options()("h,help", "")("text", "", cxxopts::value<std::string>());
  options.parse_positional({"text"});
  const Result<cxxopts::ParseResult> parsed = parse_arguments(options, arguments);
  if (!parsed) {
    return tl::unexpected<Error>(parsed.error());
  }
  if (parsed->count("help") > 0) {
    fmt::print("{}", kHelp);
    return 0;
  }
  const std::string text = parsed->count("text") > 0 ? (*parsed)["text"].as<std::string>() : "";
  if (text.empty()) {
    return fail(ErrorCode::kUsage, "say what to note: gputrace mark \"boss fight\"");
  }
  const Result<ipc::ControlClient> daemon = connect_to_daemon();
  if (!daemon) {
    return tl::unexpected<Error>(daemon.error());
  }
  const Result<ipc::ReceivedReply> answer = daemon->ask(ipc::MarkRequest{text});
  if (!answer) {
    return tl::unexpected<Error>(answer.error());
  }
  const auto* marked = std::get_if<ipc::MarkedReply>(&answer->reply);
  if (marked == nullptr) {
    return fail(ErrorCode::kCorrupt, "gputraced answered something else than how many it marked");
  }
  if (marked->recordings == 0) {
    return fail(ErrorCode::kNotFound,
                "gputraced runs no recording of yours; start one with `gputrace record -- CMD` "
                "(without --no-daemon, and not on a simulated GPU)");
  }
  fmt::print("marked {} recording{}\n", marked->recordings, marked->recordings == 1 ? "" : "s");
  return 0;
}

}  // namespace gputrace::commands
