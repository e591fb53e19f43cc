// gputrace list: the sessions of this user, newest first, each with what it says of itself.
#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "cli/commands/arguments.h"
#include "cli/commands/bench/machine_folder.h"
#include "cli/commands/calibration/calibration_summary.h"
#include "cli/commands/command.h"
#include "cli/commands/list/kept_sessions.h"
#include "cli/commands/list/list_output.h"
#include "cli/commands/session_folder.h"
#include "cli/report/terminal_text.h"
#include "daemon/store/session_kind.h"
#include "daemon/store/session_reader.h"

namespace gputrace::commands {
namespace {

constexpr std::string_view kDescription =
    R"(Lists your recorded and imported sessions, newest first. A recording that a
crash cut short is repaired on the way and marked "cut"; one that is still being
recorded is listed as such and left alone; a file that cannot be read is listed
with the reason.
)";

constexpr std::string_view kExamples = R"(
Examples:
  gputrace list
  gputrace list --json | jq -r '.[0].file'

Recordings that gputraced still keeps for you come last, with how to get them;
in JSON their "file" is null.

Sessions are kept in $XDG_DATA_HOME/gputrace/sessions (~/.local/share without
it). Delete one by deleting its file. Exit status: 0, also when there is no
session; 1 when the folder cannot be read; 2 for a wrong command line.
)";

ListedSession look_at(const std::filesystem::path& file) {
  ListedSession session;
  session.file = file;
  const Result<store::SessionReader> reader = store::SessionReader::open(file);
  if (!reader) {
    session.broken = reader.error().message;
    return session;
  }
  session.description = reader->description();
  session.end = reader->end();
  session.in_use = reader->in_use();
  if (const auto span = reader->span()) {
    session.duration_s = static_cast<double>(span->end_ns - span->start_ns) * 1e-9;
  }
  const auto& segments = reader->segments();
  const auto longest =
      std::max_element(segments.begin(), segments.end(), [](const auto& a, const auto& b) {
        return a.end_ns - a.description.start_ns < b.end_ns - b.description.start_ns;
      });
  if (longest != segments.end()) {
    session.segment = longest->description;
  }
  if (!store::describes_machine(session.description.kind)) {
    return session;
  }
  Result<std::vector<store::ResultRun>> results = reader->results();
  if (!results) {
    session.broken = results.error().message;
    return session;
  }
  std::erase_if(*results, is_summary);
  session.results = std::move(*results);
  return session;
}

cxxopts::Options make_options() {
  cxxopts::Options options("gputrace list", std::string(kDescription));
  options.custom_help("[OPTIONS]");
  options.add_options()                                                                    //
      ("json", "Print a JSON array with an object for each session")                       //
      ("all", "List measurements of this machine (roofline, bench, calibration) as well")  //
      ("h,help", "Show this help");
  return options;
}

/// Of the sessions folder and, with --all, of the machine folder beside it.
Result<std::vector<std::filesystem::path>> files_to_list(bool all) {
  const Result<std::filesystem::path> folder = sessions_folder();
  if (!folder) {
    return tl::unexpected<Error>(folder.error());
  }
  std::vector<std::filesystem::path> files;
  for (const auto& each : {*folder, machine_folder(*folder)}) {
    if (each != *folder && !all) {
      continue;
    }
    const auto found = session_files(each);
    if (found) {
      files.insert(files.end(), found->begin(), found->end());
    } else if (found.error().code != ErrorCode::kNotFound) {
      return tl::unexpected<Error>(found.error());
    }
  }
  return files;
}

void tell_how_to_begin() {
  fmt::print(stderr, "There is no session in {} yet; `gputrace record -- CMD` makes one.\n",
             sessions_folder().value_or(std::filesystem::path()).string());
}

}  // namespace

Result<int> run_list(const std::vector<std::string>& arguments) {
  cxxopts::Options options = make_options();
  const Result<cxxopts::ParseResult> parsed = parse_arguments(options, arguments);
  if (!parsed) {
    return tl::unexpected<Error>(parsed.error());
  }
  if (parsed->count("help") > 0) {
    fmt::print("{}{}", options.help(), kExamples);
    return 0;
  }
  const Result<std::vector<std::filesystem::path>> files = files_to_list(parsed->count("all") > 0);
  if (!files) {
    return tl::unexpected<Error>(files.error());
  }
  Result<ipc::SessionsReply> kept = kept_sessions();
  if (!kept) {
    fmt::print(stderr, "gputrace list: what gputraced keeps is not listed: {}\n",
               report::escape_for_terminal(kept.error().message, false));
    kept = ipc::SessionsReply{};
  }
  if (files->empty() && kept->sessions.empty()) {
    tell_how_to_begin();
  }
  std::vector<ListedSession> sessions;
  sessions.reserve(files->size());
  for (const std::filesystem::path& file : *files) {
    sessions.push_back(look_at(file));
  }
  // A copied or repaired file is as new as its recording; those without a time stay in file order.
  std::stable_sort(sessions.begin(), sessions.end(), [](const auto& a, const auto& b) {
    const auto key = [](const ListedSession& session) {
      return session.description.started ? session.description.started->realtime_ns : 0;
    };
    return key(a) > key(b);
  });
  if (parsed->count("json") > 0) {
    print_list_json(sessions, *kept);
  } else {
    print_list_text(sessions, *kept);
  }
  return 0;
}

}  // namespace gputrace::commands
