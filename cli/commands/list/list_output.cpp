#include "cli/commands/list/list_output.h"

#include <fmt/format.h>

#include <cmath>
#include <ctime>
#include <nlohmann/json.hpp>
#include <string_view>

#include "cli/commands/daemon_connection.h"
#include "cli/report/terminal_text.h"
#include "daemon/store/session_kind.h"

namespace gputrace::commands {

namespace {

std::string local_time_text(std::int64_t realtime_ns) {
  const auto seconds = static_cast<std::time_t>(realtime_ns / kNsPerSecond);
  std::tm local{};
  ::localtime_r(&seconds, &local);
  return fmt::format("{:04}-{:02}-{:02} {:02}:{:02}:{:02}", local.tm_year + 1900, local.tm_mon + 1,
                     local.tm_mday, local.tm_hour, local.tm_min, local.tm_sec);
}

std::string when_text(const ListedSession& session) {
  const auto& started = session.description.started;
  return started ? local_time_text(started->realtime_ns) : "time unknown";
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

std::string safe(std::string_view text) {
  return report::escape_for_terminal(text, false);
}

/// Empty for what is no roofline and no bench.
std::string tests_text(const ListedSession& session) {
  if (session.results.empty()) {
    return {};
  }
  std::size_t tests = 0;
  bool cancelled = false;
  for (const store::ResultRun& run : session.results) {
    tests += run.tests.size();
    cancelled = cancelled || run.cancelled;
  }
  return fmt::format("{} test{}{}", tests, tests == 1 ? "" : "s", cancelled ? ", cancelled" : "");
}

void print_session(const ListedSession& session) {
  fmt::print("{}\n", safe(session.file.filename().string()));
  if (session.broken) {
    fmt::print("  cannot be read: {}\n", safe(*session.broken));
    return;
  }
  std::vector<std::string> facts{when_text(session)};
  if (session.duration_s) {
    facts.push_back(length_text(*session.duration_s));
  } else if (session.results.empty()) {
    facts.emplace_back("no samples");
  }
  if (std::string tests = tests_text(session); !tests.empty()) {
    facts.push_back(std::move(tests));
  }
  if (session.segment) {
    const sampler::GpuIdentity& gpu = session.segment->gpu;
    facts.push_back(safe(gpu.name) + (gpu.simulated ? " (SIMULATED)" : ""));
    if (session.segment->rate_hz) {
      facts.push_back(fmt::format("{:g} Hz", *session.segment->rate_hz));
    }
  } else if (!session.results.empty()) {
    const store::ResultRun& run = session.results.front();
    facts.push_back(safe(run.device) + (run.simulated ? " (SIMULATED)" : ""));
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

void print_kept(const ipc::SessionEntry& session) {
  fmt::print("{}\n", safe(session.name));
  if (session.recording) {
    fmt::print("  being recorded by gputraced\n");
    return;
  }
  fmt::print("  {}, {}, kept by gputraced; get it with: gputrace fetch {}\n",
             local_time_text(session.written_realtime_ns), format_bytes(session.bytes),
             safe(session.name));
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
  for (const store::ResultRun& run : session.results) {
    json["results"].push_back({{"device", run.device},
                               {"simulated", run.simulated},
                               {"cancelled", run.cancelled},
                               {"tests", run.tests.size()}});
  }
  return json;
}

/// Last, and without a file: whoever takes `file` of the first gets one that can be read.
nlohmann::ordered_json json_of(const ipc::SessionEntry& session) {
  nlohmann::ordered_json json;
  json["file"] = nullptr;
  json["kept_by"] = "gputraced";
  json["name"] = session.name;
  json["bytes"] = session.bytes;
  json["written_at"] = format_rfc3339_utc(session.written_realtime_ns);
  json["recording"] = session.recording;
  return json;
}

}  // namespace

void print_list_text(const std::vector<ListedSession>& sessions, const ipc::SessionsReply& kept) {
  for (const ListedSession& session : sessions) {
    print_session(session);
  }
  for (const ipc::SessionEntry& session : kept.sessions) {
    print_kept(session);
  }
  if (kept.left_out > 0) {
    fmt::print("and {} older ones that gputraced keeps\n", kept.left_out);
  }
}

void print_list_json(const std::vector<ListedSession>& sessions, const ipc::SessionsReply& kept) {
  nlohmann::ordered_json array = nlohmann::ordered_json::array();
  for (const ListedSession& session : sessions) {
    array.push_back(json_of(session));
  }
  for (const ipc::SessionEntry& session : kept.sessions) {
    array.push_back(json_of(session));
  }
  fmt::print("{}\n", array.dump(2, ' ', false, nlohmann::ordered_json::error_handler_t::replace));
}

}  // namespace gputrace::commands
