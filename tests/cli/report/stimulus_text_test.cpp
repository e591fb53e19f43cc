#include "cli/report/stimulus_text.h"

#include <doctest/doctest.h>

#include <nlohmann/json.hpp>

#include "cli/report/stimulus_json.h"

namespace gputrace::test {
namespace {

using analysis::StimulusMatrix;
using analysis::UnitResponse;

StimulusMatrix sample() {
  StimulusMatrix matrix;
  matrix.points = 40;
  matrix.terms = {{"vector", 30}, {"memory", 12}, {"local", 1}};
  matrix.units = {UnitResponse{.key = {"GRBM_STATUS", "TA_BUSY"},
                               .response = {0.95, 0.02, 0},
                               .standard_error = {0.004, 0.01, 0},
                               .rms = 0.03,
                               .points = 40},
                  UnitResponse{.key = {"GRBM_STATUS2", "EA_BUSY"},
                               .response = {0, 0.8, 0.1},
                               .standard_error = {0, 0.02, 0.1},
                               .rms = 0.05,
                               .points = 40},
                  UnitResponse{.key = {"GRBM_STATUS", "GDS_BUSY"},
                               .response = {0.01, 0, 0},
                               .standard_error = {0, 0, 0},
                               .rms = 0.01,
                               .points = 40}};
  matrix.not_separated = {{{"GRBM_STATUS", "TA_BUSY"}, {"GRBM_STATUS2", "TCP_BUSY"}}};
  matrix.silent = {{"GRBM_STATUS", "CB_BUSY"}};
  matrix.inseparable_terms = {{"arithmetic", "pixels"}};
  return matrix;
}

TEST_CASE("each unit has a line of what keeps it busy, the strongest first, with errors or n") {
  CHECK(report::render_stimulus_text(sample(), {}) ==
        R"(What keeps each unit busy
  Share of the time that the GPU works, for what is asked for all the time, with
    its standard error; fitted to 40 points.
  TA         vector 95 ±1 %
  EA         memory 80 ±2 %, local 10 % (n = 1)
  GDS        none of these for 5 % or more
  No stimulus tells these apart: TA, TCP.
  Nothing here makes these busy: CB.
  Always asked for together: arithmetic, pixels.
)");
}

TEST_CASE("a matrix without points is no section, and null") {
  CHECK(report::render_stimulus_text({}, {}).empty());
  CHECK(report::stimulus_json({}) == "null");
}

TEST_CASE("the matrix as JSON has a response and an error for each unit and term") {
  const auto json = nlohmann::ordered_json::parse(report::stimulus_json(sample()));
  CHECK(json["points"] == 40);
  CHECK(json["terms"][1] == nlohmann::ordered_json({{"name", "memory"}, {"points", 12}}));
  REQUIRE(json["units"].size() == 3);
  CHECK(json["units"][1]["register"] == "GRBM_STATUS2");
  CHECK(json["units"][1]["response"].size() == json["terms"].size());
  CHECK(json["units"][1]["standard_error"][2] == 0.1);
  CHECK(json["not_separated"][0][1]["name"] == "TCP_BUSY");
  CHECK(json["silent"][0]["name"] == "CB_BUSY");
  CHECK(json["inseparable_terms"][0][1] == "pixels");
}

}  // namespace
}  // namespace gputrace::test
