#include <fmt/format.h>

#include <nlohmann/json.hpp>

#include "cli/commands/decode/decode_sysfs.h"
#include "cli/commands/decode/sensor_words.h"

namespace gputrace::commands {
namespace {

using Json = nlohmann::ordered_json;

Json text_or_null(std::string_view text) {
  return text.empty() ? Json(nullptr) : Json(text);
}

template <class T>
Json hex_or_null(const std::optional<T>& value, int digits) {
  return value ? Json(fmt::format("0x{:0{}x}", *value, digits)) : Json(nullptr);
}

Json gpu_to_json(const DecodedFolder& decoded) {
  const os::GpuDevice& gpu = decoded.gpu;
  const auto& identity = gpu.identity;
  return {{"name", identity.name},
          {"pci", text_or_null(identity.pci)},
          {"vendor_id", hex_or_null(identity.vendor_id, 4)},
          {"device_id", hex_or_null(identity.device_id, 4)},
          {"revision_id", hex_or_null(identity.revision_id, 2)},
          {"card", text_or_null(gpu.card)},
          {"driver", text_or_null(identity.driver)},
          {"gc", identity.gc ? Json(regdb::to_string(*identity.gc)) : Json(nullptr)},
          {"gc_source", text_or_null(decoded.gc_source)},
          {"runtime_status", text_or_null(gpu.runtime_status)},
          {"boot_vga", gpu.boot_vga}};
}

Json finding_to_json(const os::SourceFinding& finding) {
  return {{"source", finding.source},
          {"state", state_word(finding.state)},
          {"errno", finding.error_number != 0 ? Json(finding.error_number) : Json(nullptr)},
          {"reason", text_or_null(finding.reason)},
          {"fix", text_or_null(finding.fix)},
          {"loses", text_or_null(finding.loses)}};
}

Json series_to_json(const DecodedSeries& series) {
  const sampler::SensorDescription& sensor = series.description;
  return {{"name", sensor.name},
          {"source", sensor.source},
          {"label", text_or_null(sensor.label)},
          {"kind", kind_word(sensor.kind)},
          {"raw", text_or_null(series.raw)},
          {"value", series.value ? Json(*series.value) : Json(nullptr)},
          {"unit", sensor.unit},
          {"absent", text_or_null(series.absent)},
          {"covers", text_or_null(sensor.covers)},
          {"decision", text_or_null(sensor.decision)}};
}

}  // namespace

std::string folder_to_json(const DecodedFolder& decoded) {
  Json sources = Json::array();
  for (const os::SourceFinding& finding : decoded.findings) {
    sources.push_back(finding_to_json(finding));
  }
  Json series = Json::array();
  for (const DecodedSeries& one : decoded.series) {
    series.push_back(series_to_json(one));
  }
  const Json json{{"schema", "gputrace.decode-sysfs/1"},
                  {"folder", decoded.folder},
                  {"gpu", gpu_to_json(decoded)},
                  {"sources", std::move(sources)},
                  {"series", std::move(series)}};
  // Texts come from files: what is not UTF-8 there is replaced, not thrown upon.
  return json.dump(2, ' ', false, Json::error_handler_t::replace) + "\n";
}

}  // namespace gputrace::commands
