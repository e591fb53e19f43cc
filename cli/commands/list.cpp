// gputrace list: the sessions of this user, newest first, each with what it says of itself.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <ctime>
#include <nlohmann/json.hpp>

#include "cli/commands/arguments.h"
#include "cli/commands/command.h"
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

Sessions are kept in $XDG_DATA_HOME/gputrace/sessions (~/.local/share without
it). Delete one by deleting its file. Exit status: 0, also when there is no
session; 1 when the folder cannot be read; 2 for a wrong command line.
)";

struct ListedSession {
  std::filesystem::path file;
  std::optional<std::string> broken;  ///< why it cannot be read
  store::SessionDescription description;
  std::optional<store::SessionEnd> end;
  bool in_use = false;
  std::optional<double> duration_s;
  std::optional<store::SegmentDescription> segment;  ///< the longest one
};

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
  return session;
}

std::string when_text(const ListedSession& session) {
  if (!session.description.started) {
    return "time unknown";
  }
  const auto seconds =
      static_cast<std::time_t>(session.description.started->realtime_ns / kNsPerSecond);
  std::tm local{};
  ::localtime_r(&seconds, &local);
  return fmt::format("{:04}-{:02}-{:02} {:02}:{:02}:{:02}", local.tm_year + 1900, local.tm_mon + 1,
                     local.tm_mday, local.tm_hour, local.tm_min, local.tm_sec);
}

std::string length_text(double seconds) {
  if (seconds < 60) {
    return fmt::format("{:.1f} s", seconds);
  }
  const auto whole = static_cast<std::int64_t>(std::llround(seconds));
  return whole < 3600 ? fmt::format("{}:{:02} min", whole / 60, whole % 60)
                      : fmt::format("{}:{:02}:{:02} h", whole / 3600, whole / 60 % 60, whole % 60);
}

std::string what_text(const ListedSession& session) {
  const store::SessionDescription& description = session.description;
  if (description.label) {
    return *description.label;
  }
  return description.command ? report::quote_command(*description.command) : description.origin;
}

std::string outcome_text(const ListedSession& session) {
  if (!session.end) {
    return session.in_use ? "still being recorded, or cut and open elsewhere" : "cut";
  }
  if (session.end->signal) {
    return fmt::format("signal {}", *session.end->signal);
  }
  return session.end->exit_code ? fmt::format("exit {}", *session.end->exit_code) : "";
}

void print_text(const std::vector<ListedSession>& sessions) {
  const auto safe = [](std::string_view text) { return report::escape_for_terminal(text, false); };
  for (const ListedSession& session : sessions) {
    fmt::print("{}\n", safe(session.file.filename().string()));
    if (session.broken) {
      fmt::print("  cannot be read: {}\n", safe(*session.broken));
      continue;
    }
    std::vector<std::string> facts{when_text(session)};
    facts.push_back(session.duration_s ? length_text(*session.duration_s) : "no samples");
    if (session.segment) {
      const sampler::GpuIdentity& gpu = session.segment->gpu;
      facts.push_back(safe(gpu.name) + (gpu.simulated ? " (SIMULATED)" : ""));
      if (session.segment->rate_hz) {
        facts.push_back(fmt::format("{:g} Hz", *session.segment->rate_hz));
      }
    }
    if (session.description.kind != store::SessionKind::kRecording) {
      facts.emplace_back(store::to_string(session.description.kind));
    }
    if (std::string outcome = outcome_text(session); !outcome.empty()) {
      facts.push_back(std::move(outcome));
    }
    std::string line;
    for (const std::string& fact : facts) {
      line += (line.empty() ? "" : ", ") + fact;
    }
    fmt::print("  {}\n", line);
    if (const std::string what = what_text(session); !what.empty()) {
      fmt::print("  {}\n", safe(what));
    }
  }
}

nlohmann::ordered_json json_of(const ListedSession& session) {
  nlohmann::ordered_json json;
  json["file"] = session.file.string();
  if (session.broken) {
    json["error"] = *session.broken;
    return json;
  }
  const store::SessionDescription& description = session.description;
  const auto or_null = [](const auto& value) {
    return value ? nlohmann::ordered_json(*value) : nlohmann::ordered_json();
  };
  json["kind"] = store::to_string(description.kind);
  json["started_at"] =
      description.started
          ? nlohmann::ordered_json(format_rfc3339_utc(description.started->realtime_ns))
          : nlohmann::ordered_json();
  json["duration_s"] = or_null(session.duration_s);
  json["label"] = or_null(description.label);
  json["command"] = or_null(description.command);
  json["cut"] = !session.end;
  json["in_use"] = session.in_use;
  json["exit_code"] = session.end ? or_null(session.end->exit_code) : nlohmann::ordered_json();
  json["signal"] = session.end ? or_null(session.end->signal) : nlohmann::ordered_json();
  if (session.segment) {
    const sampler::GpuIdentity& gpu = session.segment->gpu;
    json["gpu"] = {{"name", gpu.name},
                   {"gc", gpu.gc ? nlohmann::ordered_json(regdb::to_string(*gpu.gc))
                                 : nlohmann::ordered_json()},
                   {"pci", gpu.pci},
                   {"simulated", gpu.simulated}};
    json["rate_hz"] = or_null(session.segment->rate_hz);
  }
  return json;
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
  for (const auto& each : {*folder, folder->parent_path() / "machine"}) {
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
  if (files.empty()) {
    fmt::print(stderr, "There is no session in {} yet; `gputrace record -- CMD` makes one.\n",
               folder->string());
  }
  return files;
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
    nlohmann::ordered_json array = nlohmann::ordered_json::array();
    for (const ListedSession& session : sessions) {
      array.push_back(json_of(session));
    }
    fmt::print("{}\n", array.dump(2, ' ', false, nlohmann::ordered_json::error_handler_t::replace));
  } else {
    print_text(sessions);
  }
  return 0;
}

}  // namespace gputrace::commands
