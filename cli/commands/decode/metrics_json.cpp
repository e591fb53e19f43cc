#include <nlohmann/json.hpp>

#include "cli/commands/decode/decode_metrics.h"

namespace gputrace::commands {
namespace {

using Json = nlohmann::ordered_json;

Json text_or_null(std::string_view text) {
  return text.empty() ? Json(nullptr) : Json(text);
}

Json unit_to_json(const regdb::MetricsScale& scale) {
  if (scale.decision.empty()) {
    return nullptr;
  }
  return {{"unit", scale.unit}, {"scale", scale.scale}, {"decision", scale.decision}};
}

Json metric_to_json(const DecodedMetric& metric, const DecodedTable& table) {
  const regdb::MetricsField& field = *metric.field;
  Json json{{"name", field.name},
            {"element", metric.element ? Json(*metric.element) : Json(nullptr)},
            {"offset", field.offset + metric.element.value_or(0) * field.width},
            {"bytes", field.width},
            {"raw", metric.raw},
            {"raw_unit", raw_unit(field, table.units)},
            {"value", metric.value ? Json(*metric.value) : Json(nullptr)},
            {"unit", regdb::metric_unit(field, table.units)},
            {"absent", text_or_null(metric.absent)},
            {"series", text_or_null(field.sensor)},
            {"unrecorded", text_or_null(regdb::why_unrecorded(*table.layout, field, table.gc))},
            {"meaning", text_or_null(field.meaning)}};
  if (field.value_unit == "bits" && metric.value &&
      field.name.find("throttle") != std::string::npos) {
    json["reasons"] = Json::array();
    for (const regdb::ThrottleReason& reason : metric.reasons) {
      json["reasons"].push_back(
          {{"bit", reason.bit}, {"name", reason.name}, {"group", regdb::to_string(reason.group)}});
    }
  }
  return json;
}

}  // namespace

std::string metrics_to_json(const DecodedTable& table) {
  Json fields = Json::array();
  for (const DecodedMetric& metric : table.metrics) {
    fields.push_back(metric_to_json(metric, table));
  }
  const Json json{{"schema", "gputrace.decode-gpu-metrics/1"},
                  {"file", table.file},
                  {"revision", std::to_string(table.layout->format) + "." +
                                   std::to_string(table.layout->content)},
                  {"size", table.layout->size},
                  {"trailing_bytes", table.trailing_bytes},
                  {"gc", table.gc ? Json(regdb::to_string(*table.gc)) : Json(nullptr)},
                  {"units",
                   {{"activity", unit_to_json(table.units.activity)},
                    {"power", unit_to_json(table.units.power)},
                    {"temperature", unit_to_json(table.units.temperature)}}},
                  {"fields", std::move(fields)}};
  // File names need not be UTF-8.
  return json.dump(2, ' ', false, Json::error_handler_t::replace) + "\n";
}

}  // namespace gputrace::commands
