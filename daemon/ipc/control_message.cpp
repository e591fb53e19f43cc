#include "daemon/ipc/control_message.h"

#include <algorithm>
#include <array>
#include <nlohmann/json.hpp>
#include <type_traits>
#include <utility>

#include "daemon/ipc/json_fields.h"
#include "daemon/ipc/json_object.h"
#include "daemon/ipc/order_fields.h"

namespace gputrace::ipc {

namespace {

using nlohmann::json;

constexpr int kMaxVersion = 1'000'000;
constexpr double kMaxRateHz = 1e6;
constexpr std::string_view kSessionSuffix = ".gputrace";
constexpr std::array<std::string_view, 4> kSources{"auto", "drm", "debugfs", "bar"};

json text_or_null(const std::optional<std::string>& text) {
  return text ? json(bytes_to_json(*text)) : json(nullptr);
}

json command_or_null(const std::optional<std::vector<std::string>>& command) {
  if (!command) {
    return nullptr;
  }
  json words = json::array();
  for (const std::string& word : *command) {
    words.push_back(bytes_to_json(word));
  }
  return words;
}

json named(std::string_view type, const std::string& name) {
  return {{"type", type}, {"name", bytes_to_json(name)}};
}

json to_json(const HelloRequest& request) {
  return {
      {"type", "hello"}, {"version", request.version}, {"client", bytes_to_json(request.client)}};
}
json to_json(const GpusRequest& /*request*/) {
  return {{"type", "gpus"}};
}
json to_json(const StatusRequest& /*request*/) {
  return {{"type", "status"}};
}
json to_json(const RecordRequest& request) {
  return {{"type", "record"},
          {"gpu", bytes_to_json(request.gpu)},
          {"source", bytes_to_json(request.source)},
          {"rate_hz", request.rate_hz},
          {"sensor_rate_hz", request.sensor_rate_hz},
          {"purpose", purpose_name(request.purpose)},
          {"label", text_or_null(request.label)},
          {"command", command_or_null(request.command)}};
}
json to_json(const MarkRequest& request) {
  return {{"type", "mark"}, {"text", bytes_to_json(request.text)}};
}
json to_json(const SubscribeRequest& request) {
  return {{"type", "subscribe"}, {"gpu", bytes_to_json(request.gpu)}, {"rate_hz", request.rate_hz}};
}
json to_json(const SessionsRequest& /*request*/) {
  return {{"type", "sessions"}};
}
json to_json(const FetchRequest& request) {
  return named("fetch", request.name);
}
json to_json(const DoneRequest& request) {
  return named("done", request.name);
}

/// What the recorder takes in the same words.
Result<Request> decode_as_order(std::string_view message) {
  const Result<Order> order = decode_order(message);
  if (!order) {
    return tl::unexpected(order.error());
  }
  return std::visit(
      [](const auto& kind) -> Result<Request> {
        if constexpr (std::is_constructible_v<Request, decltype(kind)>) {
          return Request(kind);
        } else {
          return bad_message("unknown request");
        }
      },
      *order);
}

Result<Request> read_hello(JsonFields& fields) {
  HelloRequest request;
  request.version = static_cast<int>(fields.integer("version", 0, kMaxVersion));
  if (request.version != kProtocolVersion && fields.is_sound()) {
    return Request(request);  // its other fields are not ours to judge
  }
  request.client = fields.text("client", kMaxNameBytes);
  // The log prints it: a stranger must not be able to put a line of its own there.
  if (!is_printable_ascii(request.client)) {
    return bad_message("field 'client' has a character that is not printable ASCII");
  }
  return checked<Request>(std::move(request), fields);
}

Result<Request> read_record(JsonFields& fields) {
  RecordRequest request;
  request.gpu = fields.text("gpu", kMaxNameBytes);
  request.source = fields.text("source", kMaxNameBytes);
  request.rate_hz = fields.number("rate_hz", 0, kMaxRateHz);
  request.sensor_rate_hz = read_sensor_rate(fields);
  request.purpose = read_purpose(fields);
  request.label = fields.optional_text("label", kMaxLabelBytes);
  if (!fields.is_null("command")) {
    request.command = fields.texts("command", kMaxCommandWords, kMaxCommandBytes, kMaxCommandBytes);
  }
  if (std::find(kSources.begin(), kSources.end(), request.source) == kSources.end()) {
    return bad_message("field 'source' is neither auto, drm, debugfs nor bar");
  }
  if (request.purpose == Purpose::kBackground || request.purpose == Purpose::kLive) {
    return bad_message("field 'purpose' is neither recording, roofline, bench nor calibration");
  }
  return checked<Request>(std::move(request), fields);
}

template <class Named>
Result<Request> read_named(JsonFields& fields) {
  Named request{fields.text("name", kMaxSessionName)};
  if (!is_session_name(request.name)) {
    return bad_message("field 'name' is not the name of a session");
  }
  return checked<Request>(std::move(request), fields);
}

}  // namespace

Result<Request> decode_request(std::string_view message) {
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
    return checked<Request>(GpusRequest{}, fields);
  }
  if (type == "status") {
    return checked<Request>(StatusRequest{}, fields);
  }
  if (type == "record") {
    return read_record(fields);
  }
  if (type == "mark") {
    return checked<Request>(MarkRequest{fields.text("text", kMaxTextBytes)}, fields);
  }
  if (type == "stop" || type == "processes" || type == "switch" || type == "point") {
    return decode_as_order(message);
  }
  if (type == "subscribe") {
    SubscribeRequest request{fields.text("gpu", kMaxNameBytes),
                             fields.number("rate_hz", 0, kMaxRateHz)};
    return checked<Request>(std::move(request), fields);
  }
  if (type == "sessions") {
    return checked<Request>(SessionsRequest{}, fields);
  }
  if (type == "fetch") {
    return read_named<FetchRequest>(fields);
  }
  if (type == "done") {
    return read_named<DoneRequest>(fields);
  }
  return bad_message("unknown request");
}

Result<std::string> encode_request(const Request& request) {
  const Result<std::string> text = std::visit(
      [](const auto& kind) -> Result<std::string> {
        if constexpr (std::is_constructible_v<Order, decltype(kind)>) {
          return encode(Order(kind));
        } else {
          return to_json(kind).dump();
        }
      },
      request);
  return text ? sendable(*text, decode_request) : text;
}

std::string_view request_name(const Request& request) {
  // In the order of the variant.
  constexpr std::array<std::string_view, std::variant_size_v<Request>> kNames{
      "hello",  "gpus",  "status",    "record",   "mark",  "stop", "processes",
      "switch", "point", "subscribe", "sessions", "fetch", "done"};
  return kNames.at(request.index());
}

bool is_session_name(std::string_view name) {
  const auto allowed = [](char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '.' ||
           c == '_' || c == '-' || c == '+';
  };
  return name.size() > kSessionSuffix.size() && name.size() <= kMaxSessionName &&
         name.front() != '.' && name.front() != '-' && name.ends_with(kSessionSuffix) &&
         std::all_of(name.begin(), name.end(), allowed);
}

}  // namespace gputrace::ipc
