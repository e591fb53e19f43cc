#include <cmath>
#include <nlohmann/json.hpp>
#include <utility>

#include "cli/report/bench_comparison.h"

namespace gputrace::report {
namespace {

using Json = nlohmann::ordered_json;
using analysis::BenchRatio;

Json number_or_null(const std::optional<double>& value) {
  return value && std::isfinite(*value) ? Json(*value) : Json(nullptr);
}

Json text_or_null(const std::string& text) {
  return text.empty() ? Json(nullptr) : Json(text);
}

Json side_json(const BenchSide& side) {
  return {{"sources", side.sources},
          {"device", text_or_null(side.device.name)},
          {"driver", text_or_null(side.device.driver)},
          {"driver_info", text_or_null(side.device.driver_info)},
          {"started_at", text_or_null(side.started_at)},
          {"quick", side.quick},
          {"simulated", side.device.simulated}};
}

Json ratio_json(const BenchRatio& row) {
  Json json{{"test", row.test}, {"name", text_or_null(row.name)}};
  if (row.x) {
    json["x"] = number_or_null(row.x);
  }
  json["unit"] = text_or_null(row.unit);
  json["points"] = row.points;
  json["a"] = number_or_null(row.a);
  json["b"] = number_or_null(row.b);
  json["ratio"] = number_or_null(row.ratio);
  json["ci95"] =
      row.interval ? Json::array({row.interval->lower, row.interval->upper}) : Json(nullptr);
  json["per_clock"] = number_or_null(row.per_clock);
  json["per_core"] = number_or_null(row.per_core);
  json["change"] = change_word(row);
  if (!row.why.empty()) {
    json["why"] = row.why;
  }
  return json;
}

Json ratios_json(const std::vector<BenchRatio>& rows) {
  Json list = Json::array();
  for (const BenchRatio& row : rows) {
    list.push_back(ratio_json(row));
  }
  return list;
}

std::string printed(const Json& json) {
  return json.dump(2, ' ', false, Json::error_handler_t::replace) + "\n";
}

}  // namespace

std::string render_bench_comparison_json(const ComparedBenches& compared) {
  const analysis::BenchComparison& comparison = compared.comparison;
  Json changes = Json::array();
  for (const analysis::BenchChange& change : comparison.changes) {
    changes.push_back({{"what", change.what}, {"a", change.a}, {"b", change.b}});
  }
  return printed({{"schema", "gputrace.bench-compare/1"},
                  {"a", side_json(compared.a)},
                  {"b", side_json(compared.b)},
                  {"changes", std::move(changes)},
                  {"cautions", comparison.cautions},
                  {"series", ratios_json(comparison.series)},
                  {"derived", ratios_json(comparison.derived)},
                  {"points", ratios_json(comparison.points)},
                  {"only_in_a", comparison.only_in_a},
                  {"only_in_b", comparison.only_in_b},
                  {"failures", compared.failures}});
}

std::string render_published_json(const ComparedToPublished& compared) {
  Json rows = Json::array();
  for (const analysis::BesidePublished& row : compared.rows) {
    rows.push_back({{"what", row.published.what},
                    {"a", number_or_null(row.measured)},
                    {"a_lo", number_or_null(row.lower)},
                    {"a_hi", number_or_null(row.upper)},
                    {"published", row.published.value},
                    {"unit", text_or_null(row.published.unit)},
                    {"ratio", number_or_null(row.ratio)},
                    {"source", row.published.source},
                    {"why", text_or_null(row.why)}});
  }
  return printed({{"schema", "gputrace.bench-published/1"},
                  {"a", side_json(compared.a)},
                  {"gpu", compared.gpu},
                  {"figures", std::move(rows)}});
}

}  // namespace gputrace::report
