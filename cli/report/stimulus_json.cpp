#include "cli/report/stimulus_json.h"

#include <nlohmann/json.hpp>
#include <utility>
#include <vector>

namespace gputrace::report {

namespace {

using Json = nlohmann::ordered_json;

Json key_json(const analysis::UnitKey& key) {
  return {{"register", key.register_name}, {"name", key.name}};
}

Json keys_json(const std::vector<analysis::UnitKey>& keys) {
  Json list = Json::array();
  for (const analysis::UnitKey& key : keys) {
    list.push_back(key_json(key));
  }
  return list;
}

}  // namespace

std::string stimulus_json(const analysis::StimulusMatrix& matrix) {
  if (matrix.points == 0) {
    return "null";
  }
  Json terms = Json::array();
  for (const analysis::StimulusTerm& term : matrix.terms) {
    terms.push_back({{"name", term.name}, {"points", term.points}});
  }
  Json units = Json::array();
  for (const analysis::UnitResponse& unit : matrix.units) {
    Json object = key_json(unit.key);
    object["response"] = unit.response;
    object["standard_error"] = unit.standard_error;
    object["rms"] = unit.rms;
    object["points"] = unit.points;
    units.push_back(std::move(object));
  }
  Json sets = Json::array();
  for (const std::vector<analysis::UnitKey>& set : matrix.not_separated) {
    sets.push_back(keys_json(set));
  }
  const Json object{{"points", matrix.points},
                    {"terms", std::move(terms)},
                    {"units", std::move(units)},
                    {"not_separated", std::move(sets)},
                    {"silent", keys_json(matrix.silent)},
                    {"inseparable_terms", matrix.inseparable_terms}};
  return object.dump(-1, ' ', false, Json::error_handler_t::replace);
}

}  // namespace gputrace::report
