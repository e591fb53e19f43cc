#include <nlohmann/json.hpp>
#include <optional>

#include "cli/commands/calibrate/calibration_output.h"
#include "cli/report/stimulus_json.h"

namespace gputrace::commands {

namespace {

using json = nlohmann::ordered_json;

template <class Value>
json or_null(const std::optional<Value>& value) {
  return value ? json(*value) : json(nullptr);
}

json interval_json(const std::optional<analysis::Interval>& interval) {
  return interval ? json::array({interval->lower, interval->upper}) : json(nullptr);
}

json range_json(const analysis::Range& range) {
  return json::array({or_null(range.lower), or_null(range.upper)});
}

json ceiling_json(const std::optional<analysis::Ceiling>& ceiling) {
  if (!ceiling) {
    return nullptr;
  }
  return {{"name", ceiling->name},
          {"value", ceiling->value},
          {"lower", or_null(ceiling->lower)},
          {"upper", or_null(ceiling->upper)},
          {"unit", ceiling->unit}};
}

json units_json(const std::vector<analysis::BusyUnit>& units) {
  json list = json::array();
  for (const analysis::BusyUnit& unit : units) {
    list.push_back({{"register", unit.key.register_name},
                    {"name", unit.key.name},
                    {"busy", unit.busy},
                    {"ci95", interval_json(unit.ci95)},
                    {"samples", unit.counts ? json(unit.counts->samples) : json(nullptr)}});
  }
  return list;
}

json point_json(const analysis::CalibrationPoint& point) {
  return {{"workload", point.workload},
          {"family", point.family},
          {"group_threads", point.group_threads},
          {"class", analysis::to_string(point.truth)},
          {"intensity", or_null(point.intensity)},
          {"dram_gbps", or_null(point.gbps)},
          {"gflops", or_null(point.gflops)},
          {"clock_mhz", or_null(point.clock_mhz)},
          {"power_w", or_null(point.power_w)},
          {"suspect", point.suspect},
          {"units", units_json(point.units)}};
}

json validated_json(const ValidatedWorkload& workload) {
  json object = point_json(workload.truth);
  object["of_ridge"] = or_null(workload.of_ridge);
  object["estimated"] = {
      {"of_ridge", workload.position ? range_json(workload.position->of_ridge) : json(nullptr)},
      {"intensity", workload.position ? range_json(workload.position->intensity) : json(nullptr)},
      {"class", analysis::to_string(workload.verdict.bottleneck)},
      {"confidence", workload.verdict.confidence},
      {"nearest", or_null(workload.verdict.nearest)}};
  object["inside"] = or_null(workload.inside);
  object["class_right"] = or_null(workload.class_right);
  return object;
}

json validation_json(const Validation& validation) {
  json list = json::array();
  for (const ValidatedWorkload& workload : validation.workloads) {
    list.push_back(validated_json(workload));
  }
  return {{"fit", validation.fit.why},
          {"scatter", or_null(validation.scatter)},
          {"no_position",
           validation.no_position.empty() ? json(nullptr) : json(validation.no_position)},
          {"workloads", std::move(list)}};
}

}  // namespace

std::string calibration_json(const analysis::Calibration& calibration,
                             const analysis::StimulusMatrix& matrix, const Validation* validation) {
  const analysis::Conditions& conditions = calibration.conditions;
  json points = json::array();
  for (const analysis::CalibrationPoint& point : calibration.points) {
    points.push_back(point_json(point));
  }
  const json document = {
      {"schema", "gputrace.calibration/1"},
      {"started_at", calibration.started_at},
      {"gpu", conditions.gpu},
      {"simulated", conditions.simulated},
      {"driver", or_null(conditions.driver)},
      {"clock_mhz", or_null(conditions.clock_mhz)},
      {"power_w", or_null(conditions.power_w)},
      {"compute", ceiling_json(calibration.compute)},
      {"bandwidth", ceiling_json(calibration.bandwidth)},
      {"ridge", or_null(analysis::ridge_of(calibration))},
      {"points", std::move(points)},
      {"stimulus_matrix", json::parse(report::stimulus_json(matrix))},
      {"validation", validation != nullptr ? validation_json(*validation) : json(nullptr)},
  };
  // A name that is not UTF-8 must not throw.
  return document.dump(2, ' ', false, json::error_handler_t::replace) + "\n";
}

}  // namespace gputrace::commands
