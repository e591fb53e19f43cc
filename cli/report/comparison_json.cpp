#include "cli/report/comparison_json.h"

#include <nlohmann/json.hpp>
#include <optional>
#include <vector>

namespace gputrace::report {
namespace {

using analysis::Difference;
using analysis::Reality;
using Json = nlohmann::ordered_json;

template <class T>
Json value_or_null(const std::optional<T>& value) {
  return value ? Json(*value) : Json(nullptr);
}

Json interval_json(const std::optional<analysis::Interval>& interval) {
  return interval ? Json::array({interval->lower, interval->upper}) : Json(nullptr);
}

Json sessions_json(const std::vector<ComparedSession>& sessions) {
  Json out = Json::array();
  for (const ComparedSession& session : sessions) {
    out.push_back({{"file", session.file},
                   {"label", value_or_null(session.label)},
                   {"started_at", value_or_null(session.started_at)},
                   {"duration_s", value_or_null(session.duration_s)},
                   {"gpu",
                    {{"name", session.gpu.name.empty() ? Json(nullptr) : Json(session.gpu.name)},
                     {"gc", value_or_null(session.gpu.gc)},
                     {"pci", value_or_null(session.gpu.pci)},
                     {"simulated", session.gpu.simulated}}}});
  }
  return out;
}

/// The keys that all rows have, behind those that name the thing.
void add_difference(Json& json, const Difference& row) {
  json["a"] = value_or_null(row.a);
  json["b"] = value_or_null(row.b);
  json["difference"] = value_or_null(row.difference);
  json["ci95"] = interval_json(row.interval);
  json["relative"] = value_or_null(row.relative);
  json["relative_ci95"] = interval_json(row.relative_interval);
  json["real"] =
      row.reality == Reality::kCannotTell ? Json(nullptr) : Json(row.reality == Reality::kReal);
  if (!row.why.empty()) {
    json["why"] = row.why;
  }
}

Json units_json(const std::vector<Difference>& rows) {
  Json out = Json::array();
  for (const Difference& row : rows) {
    Json json{{"name", row.name}, {"register", row.register_name}, {"unit", row.unit}};
    add_difference(json, row);
    out.push_back(std::move(json));
  }
  return out;
}

Json quantities_json(const std::vector<Difference>& rows) {
  Json out = Json::array();
  for (const Difference& row : rows) {
    Json json{{"name", row.name}, {"source", row.source}, {"unit", row.unit}};
    add_difference(json, row);
    out.push_back(std::move(json));
  }
  return out;
}

Json classes_json(const std::vector<Difference>& rows) {
  Json out = Json::array();
  for (const Difference& row : rows) {
    Json json{{"class", row.name}, {"unit", row.unit}};
    add_difference(json, row);
    out.push_back(std::move(json));
  }
  return out;
}

}  // namespace

std::string render_comparison_json(const ComparisonReport& report) {
  Json conditions = Json::array();
  for (const analysis::FailVerdict& verdict : report.conditions) {
    conditions.push_back({{"failed", verdict.failed}, {"text", verdict.explanation}});
  }
  Json warnings = Json::array();
  for (const Warning& warning : report.warnings) {
    warnings.push_back({{"code", warning.code}, {"text", warning.text}, {"hint", warning.hint}});
  }
  const Json json{{"schema", "gputrace.compare/1"},
                  {"a", sessions_json(report.a)},
                  {"b", sessions_json(report.b)},
                  {"from_repeats", report.comparison.from_repeats},
                  {"verdict", comparison_words(report)},
                  {"classes", classes_json(report.comparison.classes)},
                  {"units", units_json(report.comparison.units)},
                  {"quantities", quantities_json(report.comparison.quantities)},
                  {"fail_on", std::move(conditions)},
                  {"warnings", std::move(warnings)}};
  return json.dump(2, ' ', false, Json::error_handler_t::replace) + "\n";
}

}  // namespace gputrace::report
