#include "daemon/ipc/message.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <limits>
#include <nlohmann/json.hpp>
#include <utility>

#include "daemon/ipc/json_fields.h"
#include "daemon/ipc/json_object.h"
#include "daemon/ipc/order_fields.h"

namespace gputrace::ipc {

namespace {

using nlohmann::json;

constexpr std::int64_t kMaxTime = std::numeric_limits<std::int64_t>::max();
constexpr double kMaxRateHz = 1e6;
constexpr double kMaxSeconds = 1e10;
constexpr double kShortestBurst = 1e-3;
constexpr std::string_view kEllipsis = "...";
constexpr std::size_t kRoomForTheNote = 64;

constexpr std::array<std::pair<ErrorCode, std::string_view>, 10> kErrorNames{{
    {ErrorCode::kNotFound, "not_found"},
    {ErrorCode::kPermissionDenied, "permission_denied"},
    {ErrorCode::kUnsupported, "unsupported"},
    {ErrorCode::kBusy, "busy"},
    {ErrorCode::kExists, "exists"},
    {ErrorCode::kCorrupt, "corrupt"},
    {ErrorCode::kInvalidArgument, "invalid_argument"},
    {ErrorCode::kUsage, "usage"},
    {ErrorCode::kNoSpace, "no_space"},
    {ErrorCode::kIo, "io"},
}};

constexpr std::array<std::pair<OnExisting, std::string_view>, 3> kOnExistingNames{{
    {OnExisting::kRefuse, "refuse"},
    {OnExisting::kReplace, "replace"},
    {OnExisting::kNumber, "number"},
}};

/// The last one for a value that is not in the table.
template <class Table, class Value>
std::string_view name_in(const Table& table, Value value) {
  const auto* found = std::find_if(table.begin(), table.end(),
                                   [value](const auto& row) { return row.first == value; });
  return found == table.end() ? table.back().second : found->second;
}

template <class Table>
auto value_in(const Table& table, std::string_view name) {
  const auto* found = std::find_if(table.begin(), table.end(),
                                   [name](const auto& row) { return row.second == name; });
  return found == table.end() ? std::nullopt : std::optional(found->first);
}

std::string shortened(std::string_view text) {
  if (text.size() <= kMaxTextBytes) {
    return std::string(text);
  }
  return std::string(text.substr(0, kMaxTextBytes - kEllipsis.size())).append(kEllipsis);
}

json text_or_null(const std::optional<std::string>& text) {
  return text ? json(bytes_to_json(*text)) : json(nullptr);
}

template <class T>
json value_or_null(const std::optional<T>& value) {
  return value ? json(*value) : json(nullptr);
}

json list(const std::vector<std::string>& texts) {
  json all = json::array();
  for (const std::string& text : texts) {
    all.push_back(bytes_to_json(text));
  }
  return all;
}

json to_json(const StartOrder& order) {
  return {{"type", "start"},
          {"gpu", bytes_to_json(order.gpu)},
          {"source", bytes_to_json(order.source)},
          {"rate_hz", order.rate_hz},
          {"file", bytes_to_json(order.file)},
          {"on_existing", name_in(kOnExistingNames, order.on_existing)},
          {"label", text_or_null(order.label)},
          {"command", order.command ? list(*order.command) : json(nullptr)},
          {"purpose", purpose_name(order.purpose)},
          {"burst_s", order.bursts ? json(order.bursts->length_s) : json(nullptr)},
          {"burst_every_s", order.bursts ? json(order.bursts->every_s) : json(nullptr)},
          {"sensor_rate_hz", order.sensor_rate_hz},
          {"reserve_bytes", order.reserve_bytes}};
}

json to_json(const MarkOrder& order) {
  return {{"type", "mark"},
          {"time_ns", order.time_ns},
          {"kind", bytes_to_json(order.kind)},
          {"text", bytes_to_json(shortened(order.text))}};
}

json to_json(const StopOrder& order) {
  return {{"type", "stop"},
          {"exit_code", value_or_null(order.exit_code)},
          {"signal", value_or_null(order.signal)},
          {"discard", order.discard}};
}

json to_json(const ReadyAnswer& answer) {
  std::vector<std::string> notes;
  for (const std::string& note : answer.notes) {
    if (notes.size() < kMaxNotes) {
      // All notes together must fit a message.
      notes.push_back(shortened(note).substr(0, kMaxTextBytes / kMaxNotes));
    }
  }
  return {{"type", "ready"},
          {"file", bytes_to_json(answer.file)},
          {"gpu_name", bytes_to_json(shortened(answer.gpu_name))},
          {"simulated", answer.simulated},
          {"scenario", bytes_to_json(shortened(answer.scenario))},
          {"load_seconds", answer.load_seconds},
          {"pci", bytes_to_json(answer.pci)},
          {"notes", list(notes)}};
}

json to_json(const FailedAnswer& answer) {
  return {{"type", "failed"},
          {"code", name_in(kErrorNames, answer.error.code)},
          {"message", bytes_to_json(shortened(answer.error.message))}};
}

json to_json(const WarningAnswer& answer) {
  return {{"type", "warning"},
          {"text", bytes_to_json(shortened(answer.text))},
          {"recording_ended", answer.recording_ended}};
}

json to_json(const ClosedAnswer& answer) {
  const std::optional<std::string> cut =
      answer.cut ? std::optional(shortened(*answer.cut)) : std::nullopt;
  return {{"type", "closed"},
          {"file", bytes_to_json(answer.file)},
          {"still_wal", answer.still_wal},
          {"samples", value_or_null(answer.samples)},
          {"missed", value_or_null(answer.missed)},
          {"dropped", value_or_null(answer.dropped)},
          {"seconds", value_or_null(answer.seconds)},
          {"unknown", value_or_null(answer.unknown)},
          {"cut", text_or_null(cut)}};
}

json to_json(const WindowAnswer& answer) {
  json registers = json::array();
  for (const RegisterWindow& reg : answer.registers) {
    registers.push_back({{"name", bytes_to_json(reg.name)},
                         {"valid", reg.valid},
                         {"asleep", reg.asleep},
                         {"unknown", reg.unknown},
                         {"busy", reg.busy}});
  }
  return {{"type", "window"},
          {"start_ns", answer.start_ns},
          {"end_ns", answer.end_ns},
          {"registers", std::move(registers)}};
}

json to_json(const PointAnswer& answer) {
  return {{"type", "point"}, {"time_ns", value_or_null(answer.time_ns)}};
}

std::optional<Bursts> read_bursts(JsonFields& fields) {
  if (fields.is_null("burst_s") && fields.is_null("burst_every_s")) {
    return std::nullopt;
  }
  const double length_s = fields.number("burst_s", kShortestBurst, kMaxSeconds);
  const double every_s = fields.number("burst_every_s", kShortestBurst, kMaxSeconds);
  return Bursts{length_s, every_s};
}

/// All fields of a start order but one.
StartOrder read_start(JsonFields& fields, OnExisting on_existing) {
  StartOrder order;
  order.on_existing = on_existing;
  order.purpose = read_purpose(fields);
  order.bursts = read_bursts(fields);
  order.sensor_rate_hz = read_sensor_rate(fields);
  order.reserve_bytes = fields.count("reserve_bytes");
  order.gpu = fields.text("gpu", kMaxPathBytes);
  order.source = fields.text("source", kMaxLabelBytes);
  order.rate_hz = fields.number("rate_hz", 0, kMaxRateHz);
  order.file = fields.text("file", kMaxPathBytes);
  order.label = fields.optional_text("label", kMaxLabelBytes);
  if (!fields.is_null("command")) {
    order.command = fields.texts("command", kMaxCommandWords, kMaxCommandBytes, kMaxCommandBytes);
  }
  return order;
}

MarkOrder read_mark(JsonFields& fields) {
  return {fields.integer("time_ns", 0, kMaxTime), fields.text("text", kMaxTextBytes),
          fields.text("kind", kMaxLabelBytes)};
}

StopOrder read_stop(JsonFields& fields) {
  return {fields.optional_integer("exit_code", 0, 255), fields.optional_integer("signal", 1, 64),
          fields.boolean("discard")};
}

ReadyAnswer read_ready(JsonFields& fields) {
  ReadyAnswer answer;
  answer.file = fields.text("file", kMaxPathBytes);
  answer.gpu_name = fields.text("gpu_name", kMaxTextBytes);
  answer.simulated = fields.boolean("simulated");
  answer.scenario = fields.text("scenario", kMaxTextBytes);
  answer.load_seconds = fields.number("load_seconds", 0, kMaxSeconds);
  answer.pci = fields.text("pci", kMaxPciBytes);
  answer.notes = fields.texts("notes", kMaxNotes, kMaxTextBytes / kMaxNotes, kMaxTextBytes);
  return answer;
}

ClosedAnswer read_closed(JsonFields& fields) {
  ClosedAnswer answer;
  answer.file = fields.text("file", kMaxPathBytes);
  answer.still_wal = fields.boolean("still_wal");
  answer.samples = fields.optional_count("samples");
  answer.missed = fields.optional_count("missed");
  answer.dropped = fields.optional_count("dropped");
  answer.seconds = fields.optional_number("seconds", 0, kMaxSeconds);
  answer.unknown = fields.optional_number("unknown", 0, 1);
  answer.cut = fields.optional_text("cut", kMaxTextBytes);
  return answer;
}

WindowAnswer read_window(JsonFields& fields) {
  WindowAnswer answer;
  answer.start_ns = fields.integer("start_ns", 0, kMaxTime);
  answer.end_ns = fields.integer("end_ns", 0, kMaxTime);
  fields.objects("registers", kMaxWindowRegisters, [&answer](JsonFields& reg) {
    RegisterWindow window;
    window.name = reg.text("name", kMaxLabelBytes);
    window.valid = reg.count32("valid");
    window.asleep = reg.count32("asleep");
    window.unknown = reg.count32("unknown");
    reg.counts("busy", window.busy);
    answer.registers.push_back(std::move(window));
  });
  return answer;
}

template <class Message>
std::string text_of(const Message& message) {
  return std::visit([](const auto& kind) { return to_json(kind).dump(); }, message);
}

}  // namespace

Result<Order> decode_order(std::string_view message) {
  const Result<json> object = parse_object(message);
  if (!object) {
    return tl::unexpected(object.error());
  }
  const auto& type = (*object)["type"].get_ref<const std::string&>();
  JsonFields fields(*object);
  if (type == "start") {
    const auto on_existing = value_in(kOnExistingNames, fields.text("on_existing", kMaxLabelBytes));
    if (!on_existing) {
      return bad_message("field 'on_existing' is neither refuse, replace nor number");
    }
    return checked<Order>(read_start(fields, *on_existing), fields);
  }
  if (type == "mark") {
    return checked<Order>(read_mark(fields), fields);
  }
  if (type == "stop") {
    return checked<Order>(read_stop(fields), fields);
  }
  if (type == "processes") {
    return checked<Order>(read_processes(fields), fields);
  }
  if (type == "switch") {
    return checked<Order>(read_switch(fields), fields);
  }
  if (type == "point") {
    return checked<Order>(read_point(fields), fields);
  }
  return bad_message("unknown order");
}

Result<Answer> decode_answer(std::string_view message) {
  const Result<json> object = parse_object(message);
  if (!object) {
    return tl::unexpected(object.error());
  }
  const auto& type = (*object)["type"].get_ref<const std::string&>();
  JsonFields fields(*object);
  if (type == "ready") {
    return checked<Answer>(read_ready(fields), fields);
  }
  if (type == "failed") {
    const auto code = value_in(kErrorNames, fields.text("code", kMaxLabelBytes));
    FailedAnswer answer{{code.value_or(ErrorCode::kIo), fields.text("message", kMaxTextBytes)}};
    if (!code) {
      return bad_message("field 'code' is not an error code");
    }
    return checked<Answer>(std::move(answer), fields);
  }
  if (type == "warning") {
    WarningAnswer answer{fields.text("text", kMaxTextBytes), fields.boolean("recording_ended")};
    return checked<Answer>(std::move(answer), fields);
  }
  if (type == "closed") {
    return checked<Answer>(read_closed(fields), fields);
  }
  if (type == "window") {
    return checked<Answer>(read_window(fields), fields);
  }
  if (type == "point") {
    PointAnswer answer;
    if (!fields.is_null("time_ns")) {
      answer.time_ns = fields.integer("time_ns", 0, kMaxTime);
    }
    return checked<Answer>(answer, fields);
  }
  return bad_message("unknown answer");
}

Result<HealthReport> decode_health(std::string_view message) {
  const Result<json> object = parse_object(message);
  if (!object) {
    return tl::unexpected(object.error());
  }
  if ((*object)["type"] != "health") {
    return bad_message("not a health report");
  }
  JsonFields fields(*object);
  HealthReport report;
  report.sessions = fields.count32("sessions");
  report.rate_hz = fields.number("rate_hz", 0, kMaxRateHz);
  report.stuck_s = fields.number("stuck_s", 0, kMaxSeconds);
  report.present = fields.boolean("present");
  return checked<HealthReport>(report, fields);
}

Result<std::string> encode(const HealthReport& report) {
  return json({{"type", "health"},
               {"sessions", report.sessions},
               {"rate_hz", report.rate_hz},
               {"stuck_s", report.stuck_s},
               {"present", report.present}})
      .dump();
}

Result<std::string> encode(const Order& order) {
  return sendable(text_of(order), decode_order);
}

Result<std::string> encode(const Answer& answer) {
  return sendable(text_of(answer), decode_answer);
}

std::vector<std::string> shorten_command(const std::vector<std::string>& command) {
  std::vector<std::string> kept;
  std::size_t bytes = 0;
  for (const std::string& word : command) {
    bytes += word.size();
    if (kept.size() + 1 >= kMaxCommandWords || bytes + kRoomForTheNote > kMaxCommandBytes) {
      kept.push_back(fmt::format("... ({} words more)", command.size() - kept.size()));
      break;
    }
    kept.push_back(word);
  }
  return kept;
}

}  // namespace gputrace::ipc
