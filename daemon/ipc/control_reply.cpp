#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <limits>
#include <nlohmann/json.hpp>
#include <type_traits>
#include <utility>

#include "daemon/ipc/control_message.h"
#include "daemon/ipc/json_fields.h"
#include "daemon/ipc/json_object.h"

namespace gputrace::ipc {

namespace {

using nlohmann::json;

constexpr int kMaxVersion = 1'000'000;
constexpr double kMaxRateHz = 1e6;
constexpr double kMaxSeconds = 1e10;
constexpr std::size_t kMaxWordBytes = 64;
constexpr std::size_t kMaxProblemBytes = kMaxTextBytes / kMaxProblems;
constexpr std::array<std::string_view, 5> kStates{"idle", "sampling", "gone", "stuck", "dead"};

std::string cut_to(const std::string& text, std::size_t max_bytes) {
  return bytes_to_json(std::string_view(text).substr(0, max_bytes));
}

json to_json(const HelloReply& reply) {
  return {{"type", "hello"},
          {"version", reply.version},
          {"daemon", cut_to(reply.daemon, kMaxNameBytes)}};
}

json to_json(const GpusReply& reply) {
  json gpus = json::array();
  for (const GpuEntry& gpu : reply.gpus) {
    gpus.push_back({{"name", cut_to(gpu.name, kMaxNameBytes)},
                    {"pci", bytes_to_json(gpu.pci)},
                    {"card", bytes_to_json(gpu.card)},
                    {"gc", bytes_to_json(gpu.gc)},
                    {"runtime_status", bytes_to_json(gpu.runtime_status)}});
  }
  return {{"type", "gpus"}, {"gpus", std::move(gpus)}};
}

json to_json(const StatusReply& reply) {
  json recorders = json::array();
  for (const RecorderEntry& recorder : reply.recorders) {
    recorders.push_back({{"gpu_name", cut_to(recorder.gpu_name, kMaxNameBytes)},
                         {"pci", bytes_to_json(recorder.pci)},
                         {"state", bytes_to_json(recorder.state)},
                         {"rate_hz", recorder.rate_hz},
                         {"sessions", recorder.sessions}});
  }
  json problems = json::array();
  for (const std::string& problem : reply.problems) {
    if (problems.size() < kMaxProblems) {
      problems.push_back(cut_to(problem, kMaxProblemBytes));
    }
  }
  return {{"type", "status"},
          {"daemon", cut_to(reply.daemon, kMaxNameBytes)},
          {"uptime_s", reply.uptime_s},
          {"recorders", std::move(recorders)},
          {"recordings", reply.recordings},
          {"your_recordings", reply.your_recordings},
          {"your_bytes", reply.your_bytes},
          {"your_byte_limit", reply.your_byte_limit},
          {"free_bytes", reply.free_bytes},
          {"reserve_bytes", reply.reserve_bytes},
          {"background", reply.background},
          {"cpu_s", reply.cpu_s},
          {"problems", std::move(problems)}};
}

json to_json(const MarkedReply& reply) {
  return {{"type", "marked"}, {"recordings", reply.recordings}};
}

json to_json(const SessionsReply& reply) {
  json sessions = json::array();
  for (const SessionEntry& session : reply.sessions) {
    if (sessions.size() == kMaxSessionsListed) {
      break;
    }
    sessions.push_back({{"name", bytes_to_json(session.name)},
                        {"bytes", session.bytes},
                        {"written_realtime_ns", session.written_realtime_ns},
                        {"recording", session.recording}});
  }
  const std::size_t left_out = reply.left_out + (reply.sessions.size() - sessions.size());
  return {{"type", "sessions"}, {"sessions", std::move(sessions)}, {"left_out", left_out}};
}

json to_json(const SessionFileReply& reply) {
  return {{"type", "session_file"}, {"name", bytes_to_json(reply.name)}, {"bytes", reply.bytes}};
}

json to_json(const RemovedReply& reply) {
  return {{"type", "removed"}, {"name", bytes_to_json(reply.name)}};
}

std::string session_name(JsonFields& fields) {
  std::string name = fields.text("name", kMaxSessionName);
  if (!is_session_name(name)) {
    fields.fault("name", "is not the name of a session");
  }
  return name;
}

Result<Reply> read_hello(JsonFields& fields) {
  HelloReply reply;
  reply.version = static_cast<int>(fields.integer("version", 0, kMaxVersion));
  if (reply.version != kProtocolVersion && fields.is_sound()) {
    return Reply(reply);  // its other fields are not ours to judge
  }
  reply.daemon = fields.text("daemon", kMaxNameBytes);
  return checked<Reply>(std::move(reply), fields);
}

GpusReply read_gpus(JsonFields& fields) {
  GpusReply reply;
  fields.objects("gpus", kMaxGpus, [&reply](JsonFields& gpu) {
    GpuEntry entry;
    entry.name = gpu.text("name", kMaxNameBytes);
    entry.pci = gpu.text("pci", kMaxWordBytes);
    entry.card = gpu.text("card", kMaxWordBytes);
    entry.gc = gpu.text("gc", kMaxWordBytes);
    entry.runtime_status = gpu.text("runtime_status", kMaxWordBytes);
    reply.gpus.push_back(std::move(entry));
  });
  return reply;
}

StatusReply read_status(JsonFields& fields) {
  StatusReply reply;
  reply.daemon = fields.text("daemon", kMaxNameBytes);
  reply.uptime_s = fields.number("uptime_s", 0, kMaxSeconds);
  fields.objects("recorders", kMaxGpus, [&reply](JsonFields& recorder) {
    RecorderEntry entry;
    entry.gpu_name = recorder.text("gpu_name", kMaxNameBytes);
    entry.pci = recorder.text("pci", kMaxWordBytes);
    entry.state = recorder.text("state", kMaxWordBytes);
    if (std::find(kStates.begin(), kStates.end(), entry.state) == kStates.end()) {
      recorder.fault("state", "is neither idle, sampling, gone, stuck nor dead");
    }
    entry.rate_hz = recorder.number("rate_hz", 0, kMaxRateHz);
    entry.sessions = recorder.count32("sessions");
    reply.recorders.push_back(std::move(entry));
  });
  reply.recordings = fields.count32("recordings");
  reply.your_recordings = fields.count32("your_recordings");
  reply.your_bytes = fields.count("your_bytes");
  reply.your_byte_limit = fields.count("your_byte_limit");
  reply.free_bytes = fields.count("free_bytes");
  reply.reserve_bytes = fields.count("reserve_bytes");
  reply.background = fields.boolean("background");
  reply.cpu_s = fields.number("cpu_s", 0, kMaxSeconds);
  reply.problems = fields.texts("problems", kMaxProblems, kMaxProblemBytes, kMaxTextBytes);
  return reply;
}

SessionsReply read_sessions(JsonFields& fields) {
  SessionsReply reply;
  fields.objects("sessions", kMaxSessionsListed, [&reply](JsonFields& session) {
    SessionEntry entry;
    entry.name = session_name(session);
    entry.bytes = session.count("bytes");
    entry.written_realtime_ns =
        session.integer("written_realtime_ns", 0, std::numeric_limits<std::int64_t>::max());
    entry.recording = session.boolean("recording");
    reply.sessions.push_back(std::move(entry));
  });
  reply.left_out = fields.count32("left_out");
  return reply;
}

/// The recorder's answers speak of files, the daemon's of sessions.
bool names_a_session(const Answer& answer) {
  if (const auto* ready = std::get_if<ReadyAnswer>(&answer)) {
    return is_session_name(ready->file);
  }
  if (const auto* closed = std::get_if<ClosedAnswer>(&answer)) {
    return closed->file.empty() || is_session_name(closed->file);
  }
  return true;
}

Result<Reply> decode_as_answer(std::string_view message) {
  Result<Answer> answer = decode_answer(message);
  if (!answer) {
    return tl::unexpected(answer.error());
  }
  if (!names_a_session(*answer)) {
    return bad_message("field 'file' is not the name of a session");
  }
  return std::visit([](auto&& kind) { return Reply(std::forward<decltype(kind)>(kind)); },
                    std::move(*answer));
}

}  // namespace

Result<Reply> decode_reply(std::string_view message) {
  const Result<json> object = parse_object(message);
  if (!object) {
    return tl::unexpected(object.error());
  }
  const auto& type = (*object)["type"].get_ref<const std::string&>();
  JsonFields fields(*object);
  if (type == "hello") {
    return read_hello(fields);
  }
  if (type == "gpus") {
    return checked<Reply>(read_gpus(fields), fields);
  }
  if (type == "status") {
    return checked<Reply>(read_status(fields), fields);
  }
  if (type == "marked") {
    return checked<Reply>(MarkedReply{fields.count32("recordings")}, fields);
  }
  if (type == "sessions") {
    return checked<Reply>(read_sessions(fields), fields);
  }
  if (type == "session_file") {
    SessionFileReply reply{session_name(fields), fields.count("bytes")};
    return checked<Reply>(std::move(reply), fields);
  }
  if (type == "removed") {
    return checked<Reply>(RemovedReply{session_name(fields)}, fields);
  }
  return decode_as_answer(message);
}

std::string_view reply_name(const Reply& reply) {
  // In the order of the variant.
  constexpr std::array<std::string_view, std::variant_size_v<Reply>> kNames{
      "hello", "gpus",   "status",  "marked", "sessions", "session_file", "removed",
      "ready", "failed", "warning", "closed", "window",   "point"};
  return kNames.at(reply.index());
}

Result<std::string> encode_reply(const Reply& reply) {
  const Result<std::string> text = std::visit(
      [](const auto& kind) -> Result<std::string> {
        if constexpr (std::is_constructible_v<Answer, decltype(kind)>) {
          return encode(Answer(kind));
        } else {
          return to_json(kind).dump();
        }
      },
      reply);
  return text ? sendable(*text, decode_reply) : text;
}

}  // namespace gputrace::ipc
