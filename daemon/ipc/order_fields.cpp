#include "daemon/ipc/order_fields.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cstdint>
#include <limits>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include "daemon/base/sensor_rate.h"
#include "daemon/ipc/json_object.h"

namespace gputrace::ipc {

namespace {

using nlohmann::json;

constexpr std::int64_t kMaxTime = std::numeric_limits<std::int64_t>::max();
constexpr std::int64_t kMaxPid = std::numeric_limits<std::int32_t>::max();

constexpr std::array<std::pair<Purpose, std::string_view>, 6> kPurposeNames{{
    {Purpose::kRecording, "recording"},
    {Purpose::kBackground, "background"},
    {Purpose::kLive, "live"},
    {Purpose::kRoofline, "roofline"},
    {Purpose::kBench, "bench"},
    {Purpose::kCalibration, "calibration"},
}};

bool is_engine_name(std::string_view name) {
  return !name.empty() && name.size() <= kMaxClientNameBytes &&
         std::all_of(name.begin(), name.end(), [](char c) {
           return (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || c == '_';
         });
}

json count_or_null(const std::optional<std::uint64_t>& count) {
  return count ? json(*count) : json(nullptr);
}

json client_to_json(const ClientReading& client) {
  json engines = json::object();
  for (const auto& [name, busy_ns] : client.engine_ns) {
    engines[name] = busy_ns;
  }
  return {
      {"pid", client.pid},
      {"process", bytes_to_json(std::string_view(client.process).substr(0, kMaxClientNameBytes))},
      {"pdev", bytes_to_json(client.pdev)},
      {"client_id", client.client_id},
      {"engine_ns", std::move(engines)},
      {"vram_bytes", count_or_null(client.vram_bytes)},
      {"gtt_bytes", count_or_null(client.gtt_bytes)}};
}

ClientReading read_client(JsonFields& fields) {
  ClientReading client;
  client.pid = fields.integer("pid", 1, kMaxPid);
  client.process = fields.text("process", kMaxClientNameBytes);
  client.pdev = fields.text("pdev", kMaxPciBytes);
  if (!is_pci_address(client.pdev)) {
    fields.fault("pdev", "is not a PCI address");
  }
  client.client_id = fields.count("client_id");
  client.engine_ns = fields.named_counts("engine_ns", kMaxEngines, is_engine_name);
  client.vram_bytes = fields.optional_count("vram_bytes");
  client.gtt_bytes = fields.optional_count("gtt_bytes");
  return client;
}

bool is_lower_hex(std::string_view text) {
  return std::all_of(text.begin(), text.end(),
                     [](char c) { return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'f'); });
}

}  // namespace

bool is_pci_address(std::string_view text) {
  // "%04x:%02x:%02x.%d" (drivers/pci/probe.c: pci_setup_device); bridges of VMD have domains of
  // more digits.
  constexpr std::size_t kShortest = 12;
  if (text.size() < kShortest || text.size() > kMaxPciBytes) {
    return false;
  }
  const std::string_view domain = text.substr(0, text.size() - 8);
  const std::string_view rest = text.substr(text.size() - 8);  // ":c4:00.0"
  return is_lower_hex(domain) && rest[0] == ':' && is_lower_hex(rest.substr(1, 2)) &&
         rest[3] == ':' && is_lower_hex(rest.substr(4, 2)) && rest[6] == '.' && rest[7] >= '0' &&
         rest[7] <= '7';
}

json to_json(const ProcessesOrder& order) {
  json object = {{"type", "processes"},
                 {"time_ns", order.time_ns},
                 {"clients", json::array()},
                 {"unreadable", order.unreadable},
                 {"left_out", order.left_out}};
  json& clients = object["clients"];
  for (const ClientReading& client : order.clients) {
    if (clients.size() < kMaxClients) {
      clients.push_back(client_to_json(client));
    }
  }
  const auto count_left_out = [&] {
    constexpr std::size_t kMost = std::numeric_limits<std::uint32_t>::max();
    object["left_out"] = std::min(order.left_out + (order.clients.size() - clients.size()), kMost);
  };
  count_left_out();
  while (!clients.empty() && object.dump().size() > kMaxMessageBytes) {
    clients.erase(clients.size() - 1);
    count_left_out();
  }
  return object;
}

json to_json(const SwitchOrder& order) {
  return {{"type", "switch"}, {"gpu", bytes_to_json(order.gpu)}};
}

json to_json(const PointOrder& order) {
  return {{"type", "point"},
          {"time_ns", order.time_ns},
          {"label", bytes_to_json(order.label)},
          {"stimulus", order.stimulus ? json(bytes_to_json(*order.stimulus)) : json(nullptr)}};
}

ProcessesOrder read_processes(JsonFields& fields) {
  ProcessesOrder order;
  order.time_ns = fields.integer("time_ns", 0, kMaxTime);
  fields.objects("clients", kMaxClients,
                 [&order](JsonFields& client) { order.clients.push_back(read_client(client)); });
  order.unreadable = fields.count32("unreadable");
  order.left_out = fields.count32("left_out");
  return order;
}

SwitchOrder read_switch(JsonFields& fields) {
  SwitchOrder order{fields.text("gpu", kMaxPciBytes)};
  if (!is_pci_address(order.gpu)) {
    fields.fault("gpu", "is not a PCI address");
  }
  return order;
}

PointOrder read_point(JsonFields& fields) {
  PointOrder order;
  order.time_ns = fields.integer("time_ns", 0, kMaxTime);
  order.label = fields.text("label", kMaxPointLabelBytes);
  order.stimulus = fields.optional_text("stimulus", kMaxStimulusBytes);
  if (!is_printable_ascii(order.label)) {
    fields.fault("label", "has a character that is not printable ASCII");
  }
  if (order.stimulus && !parse_inner_object(*order.stimulus)) {
    fields.fault("stimulus", "is not the text of a JSON object");
  }
  return order;
}

std::string point_event_text(const PointOrder& order) {
  json text = {{"label", bytes_to_json(order.label)}};
  if (order.stimulus) {
    Result<json> stimulus = parse_inner_object(*order.stimulus);
    text["stimulus"] = stimulus ? std::move(*stimulus) : json(nullptr);
  }
  return text.dump();
}

std::string_view purpose_name(Purpose purpose) {
  const auto* found = std::find_if(kPurposeNames.begin(), kPurposeNames.end(),
                                   [&](const auto& known) { return known.first == purpose; });
  GPUTRACE_CHECK(found != kPurposeNames.end());
  return found->second;
}

Purpose read_purpose(JsonFields& fields) {
  const std::string name = fields.text("purpose", kMaxLabelBytes);
  const auto* found = std::find_if(kPurposeNames.begin(), kPurposeNames.end(),
                                   [&](const auto& known) { return known.second == name; });
  if (found == kPurposeNames.end()) {
    fields.fault("purpose", "names nothing that samples are taken for");
    return Purpose::kRecording;
  }
  return found->first;
}

bool is_printable_ascii(std::string_view text) {
  return std::all_of(text.begin(), text.end(),
                     [](char byte) { return byte >= ' ' && byte <= '~'; });
}

double read_sensor_rate(JsonFields& fields) {
  const double rate_hz = fields.number("sensor_rate_hz", 0, kMaxSensorRateHz);
  if (rate_hz > 0 && rate_hz < kMinSensorRateHz) {
    fields.fault("sensor_rate_hz", fmt::format("is neither 0 nor a number from {} to {}",
                                               kMinSensorRateHz, kMaxSensorRateHz));
  }
  return rate_hz;
}

}  // namespace gputrace::ipc
