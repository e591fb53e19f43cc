// gputrace fetch: takes sessions from gputraced that it still keeps for this user.
#include <fmt/format.h>

#include <algorithm>
#include <optional>
#include <string_view>

#include "cli/commands/arguments.h"
#include "cli/commands/command.h"
#include "cli/commands/daemon_connection.h"
#include "cli/commands/session_copy.h"
#include "cli/commands/session_folder.h"
#include "cli/report/terminal_text.h"

namespace gputrace::commands {
namespace {

constexpr std::string_view kHelp =
    R"(Takes recordings from gputraced that it still keeps for you.

Usage: gputrace fetch [OPTIONS] [NAME]

`gputrace record` fetches its recording by itself. One stays with gputraced when
that was not possible: the disk was full, or gputrace was killed. `gputrace
list` shows those. Without NAME all of them that are finished are fetched.
gputraced deletes its own copy once the file is here.

Options:
  -o, --output FILE    write this file (with NAME); default: the same name in
                       the sessions folder, with a number if it is taken
      --force          replace FILE if it exists; a symbolic link never is
  -h, --help           this text

Exit status: 0, also when there is nothing to fetch; 1 when a file could not be
fetched, or without gputraced; 2 for a wrong command line.
)";

struct Arguments {
  std::optional<std::string> name;
  std::optional<std::filesystem::path> output;
  bool force = false;
};

/// Absent when help was asked for.
Result<std::optional<Arguments>> parse(const std::vector<std::string>& words) {
  cxxopts::Options options("gputrace fetch");
  options.add_options()("o,output", "", cxxopts::value<std::string>())("force", "")("h,help", "")(
      "name", "", cxxopts::value<std::string>());
  options.parse_positional({"name"});
  const Result<cxxopts::ParseResult> parsed = parse_arguments(options, words);
  if (!parsed) {
    return tl::unexpected<Error>(parsed.error());
  }
  if (parsed->count("help") > 0) {
    return std::nullopt;
  }
  Arguments arguments;
  arguments.force = parsed->count("force") > 0;
  if (parsed->count("name") > 0) {
    arguments.name = (*parsed)["name"].as<std::string>();
  }
  if (parsed->count("output") > 0) {
    arguments.output = (*parsed)["output"].as<std::string>();
  }
  if (arguments.output && (!arguments.name || arguments.output->empty())) {
    return fail(ErrorCode::kUsage, "-o names the file of one session: gputrace fetch NAME -o FILE");
  }
  if (arguments.force && !arguments.output) {
    return fail(ErrorCode::kUsage, "--force replaces the file that -o names, and there is no -o");
  }
  if (arguments.name && !ipc::is_session_name(*arguments.name)) {
    return fail(ErrorCode::kUsage, "'" + *arguments.name +
                                       "' is not the name of a session; `gputrace list` shows "
                                       "those that gputraced keeps");
  }
  return arguments;
}

Result<SessionCopy> prepare_copy(const Arguments& wanted, const std::string& name) {
  if (wanted.output) {
    return SessionCopy::prepare(
        *wanted.output, wanted.force ? ipc::OnExisting::kReplace : ipc::OnExisting::kRefuse);
  }
  const Result<std::filesystem::path> folder = sessions_folder();
  if (!folder) {
    return tl::unexpected<Error>(folder.error());
  }
  if (const Status status = create_sessions_folder(*folder); !status) {
    return tl::unexpected<Error>(status.error());
  }
  return SessionCopy::prepare(*folder / name, ipc::OnExisting::kNumber);
}

Status fetch_one(const ipc::ControlClient& daemon, const Arguments& wanted,
                 const std::string& name) {
  Result<SessionCopy> copy = prepare_copy(wanted, name);
  if (!copy) {
    return tl::unexpected<Error>(copy.error());
  }
  const Result<std::filesystem::path> file = fetch_session(daemon, name, *copy, std::nullopt);
  if (!file) {
    return tl::unexpected<Error>(file.error());
  }
  fmt::print("{}\n", report::escape_for_terminal(file->string(), false));
  return {};
}

/// Those that are not being recorded any more.
Result<std::vector<std::string>> finished_sessions(const ipc::ControlClient& daemon) {
  const Result<ipc::ReceivedReply> answer = daemon.ask(ipc::SessionsRequest{});
  if (!answer) {
    return tl::unexpected<Error>(answer.error());
  }
  const auto* kept = std::get_if<ipc::SessionsReply>(&answer->reply);
  if (kept == nullptr) {
    return fail(ErrorCode::kCorrupt, "gputraced answered something else than its sessions");
  }
  std::vector<std::string> names;
  for (const ipc::SessionEntry& session : kept->sessions) {
    if (!session.recording) {
      names.push_back(session.name);
    }
  }
  return names;
}

}  // namespace

Result<int> run_fetch(const std::vector<std::string>& arguments) {
  const Result<std::optional<Arguments>> parsed = parse(arguments);
  if (!parsed) {
    return tl::unexpected<Error>(parsed.error());
  }
  const std::optional<Arguments>& wanted = *parsed;
  if (!wanted) {
    fmt::print("{}", kHelp);
    return 0;
  }
  const Result<ipc::ControlClient> daemon = connect_to_daemon();
  if (!daemon) {
    return tl::unexpected<Error>(daemon.error());
  }
  const Result<std::vector<std::string>> names =
      wanted->name ? Result<std::vector<std::string>>(std::vector{*wanted->name})
                   : finished_sessions(*daemon);
  if (!names) {
    return tl::unexpected<Error>(names.error());
  }
  if (names->empty()) {
    fmt::print(stderr, "gputraced keeps no finished recording of yours.\n");
  }
  for (const std::string& name : *names) {
    if (const Status status = fetch_one(*daemon, *wanted, name); !status) {
      return fail(status.error(), "cannot fetch " + name);
    }
  }
  return 0;
}

}  // namespace gputrace::commands
