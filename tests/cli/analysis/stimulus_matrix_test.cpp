#include "cli/analysis/stimulus_matrix.h"

#include <doctest/doctest.h>

#include <algorithm>
#include <random>
#include <string>
#include <utility>
#include <vector>

namespace gputrace::test {
namespace {

using namespace analysis;
using doctest::Approx;

constexpr double kKib = 1024;
constexpr double kMib = 1024 * kKib;
constexpr double kLevels[] = {32 * kKib, 2 * kMib};

BusyUnit unit(const std::string& name, double busy) {
  return {.key = {"GRBM_STATUS", name}, .busy = busy, .counts = std::nullopt, .ci95 = std::nullopt};
}

StimulatedPoint point(std::string access, std::string path, double footprint) {
  StimulatedPoint made;
  made.label = access + "." + path;
  made.access = std::move(access);
  made.path = std::move(path);
  made.read_bytes = made.access == "none" ? 0 : 4096;
  made.footprint_bytes = footprint;
  return made;
}

/// What a GPU would show whose TA answers to vector reads, GL2 to what lies behind L0, EA to what
/// lies behind L2, and CP to everything; `active` of the time.
void play(StimulatedPoint& at, double active, std::mt19937_64& random) {
  const bool vector = at.path == "vector" && at.access != "none";
  const bool global = at.access != "none" && at.path != "local";
  const auto behind = [&](double level) {
    return global ? std::max(0.0, 1 - level / at.footprint_bytes) : 0;
  };
  std::normal_distribution<double> noise(0, 0.005);
  const auto share = [&](double busy) {
    return std::clamp(busy + noise(random), 0.0, 1.0) * active;
  };
  at.units = {unit("GUI_ACTIVE", active),
              unit("CP_BUSY", active),
              unit("TA_BUSY", vector ? share(0.95) : 0),
              unit("TCP_BUSY", vector ? share(0.95) : 0),
              unit("GL2CC_BUSY", share(0.9 * behind(kLevels[0]))),
              unit("EA_BUSY", share(0.8 * behind(kLevels[1]))),
              unit("CB_BUSY", 0)};
}

std::vector<StimulatedPoint> suite(double active) {
  std::mt19937_64 random(7);
  std::vector<StimulatedPoint> points;
  for (const char* path : {"vector", "scalar"}) {
    for (double bytes = 4 * kKib; bytes <= 256 * kMib; bytes *= 2) {
      points.push_back(point("chase", path, bytes));
    }
  }
  points.push_back(point("chase", "local", 8 * kKib));
  StimulatedPoint peak = point("none", "vector", 0);
  peak.flops = 1e6;
  points.push_back(peak);
  for (StimulatedPoint& each : points) {
    play(each, active, random);
  }
  return points;
}

double response(const StimulusMatrix& matrix, const std::string& name, const std::string& term) {
  const auto found = std::ranges::find_if(
      matrix.units, [&](const UnitResponse& each) { return each.key.name == name; });
  REQUIRE(found != matrix.units.end());
  const auto column = std::ranges::find(matrix.terms, term, &StimulusTerm::name);
  REQUIRE(column != matrix.terms.end());
  return found->response[static_cast<std::size_t>(column - matrix.terms.begin())];
}

TEST_CASE("each unit answers to what keeps it busy, and to nothing else") {
  const StimulusMatrix matrix = fit_stimulus_matrix(suite(0.8), kLevels);
  CHECK(matrix.points == 36);
  CHECK(response(matrix, "TA_BUSY", "vector") == Approx(0.95).epsilon(0.02));
  CHECK(response(matrix, "TA_BUSY", "memory") < 0.02);
  CHECK(response(matrix, "GL2CC_BUSY", "level 2") == Approx(0.9).epsilon(0.05));
  CHECK(response(matrix, "GL2CC_BUSY", "memory") == Approx(0.9).epsilon(0.05));
  CHECK(response(matrix, "EA_BUSY", "memory") == Approx(0.8).epsilon(0.05));
  CHECK(response(matrix, "EA_BUSY", "level 2") < 0.03);
  CHECK(response(matrix, "EA_BUSY", "arithmetic") < 0.02);
  for (const UnitResponse& each : matrix.units) {
    CAPTURE(each.key.name);
    CHECK(each.points == 36);
    for (std::size_t t = 0; t < matrix.terms.size(); ++t) {
      // What one point says is gone with that point.
      CHECK((matrix.terms[t].points == 1 || each.standard_error[t] < 0.1));
    }
  }
}

TEST_CASE("points that compute a lot for what they read do not blur what units answer to") {
  std::vector<StimulatedPoint> points = suite(0.8);
  for (int i = 0; i < 20; ++i) {
    StimulatedPoint mixed = point("stream", "vector", 0);
    mixed.flops = 512 * mixed.read_bytes;
    for (const auto& [name, busy] : {std::pair{"GUI_ACTIVE", 0.8},
                                     {"CP_BUSY", 0.8},
                                     {"TA_BUSY", 0.3},
                                     {"TCP_BUSY", 0.2},
                                     {"CB_BUSY", 0.1},
                                     {"EA_BUSY", 0.1}}) {
      mixed.units.push_back(unit(name, busy));
    }
    points.push_back(std::move(mixed));
  }
  const StimulusMatrix matrix = fit_stimulus_matrix(points, kLevels);
  CHECK(matrix.points == 36);
  CHECK(response(matrix, "TA_BUSY", "vector") == Approx(0.95).epsilon(0.02));
  CHECK(response(matrix, "EA_BUSY", "memory") == Approx(0.8).epsilon(0.05));
  CHECK(response(matrix, "EA_BUSY", "arithmetic") < 0.02);
  // They tell that two units are not one, and that one is not silent.
  CHECK(matrix.not_separated.empty());
  CHECK(matrix.silent.empty());
}

TEST_CASE("units that no stimulus separates and those that nothing wakes are named") {
  const StimulusMatrix matrix = fit_stimulus_matrix(suite(0.8), kLevels);
  REQUIRE(matrix.not_separated.size() == 1);
  REQUIRE(matrix.not_separated.front().size() == 2);
  CHECK(matrix.not_separated.front()[0].name == "TA_BUSY");
  CHECK(matrix.not_separated.front()[1].name == "TCP_BUSY");
  REQUIRE(matrix.silent.size() == 1);
  CHECK(matrix.silent.front().name == "CB_BUSY");
}

TEST_CASE("one point in which two units differ separates them") {
  std::vector<StimulatedPoint> points = suite(0.8);
  for (BusyUnit& each : points.front().units) {
    each.busy = each.key.name == "TCP_BUSY" ? 0.3 : each.busy;
  }
  CHECK(fit_stimulus_matrix(points, kLevels).not_separated.empty());
}

TEST_CASE("pauses of the host do not count: shares are of the time in which the GPU works") {
  const StimulusMatrix often = fit_stimulus_matrix(suite(0.9), kLevels);
  const StimulusMatrix seldom = fit_stimulus_matrix(suite(0.3), kLevels);
  CHECK(response(often, "EA_BUSY", "memory") ==
        Approx(response(seldom, "EA_BUSY", "memory")).epsilon(0.01));
}

TEST_CASE("terms that always come together are one, and say so") {
  std::mt19937_64 random(3);
  std::vector<StimulatedPoint> points;
  for (int i = 0; i < 4; ++i) {
    StimulatedPoint pixel = point("none", "vector", 0);
    pixel.pixels = true;
    pixel.flops = 16;
    play(pixel, 0.9, random);
    points.push_back(pixel);
  }
  const StimulusMatrix matrix = fit_stimulus_matrix(points, kLevels);
  REQUIRE(matrix.terms.size() == 1);
  REQUIRE(matrix.inseparable_terms.size() == 1);
  CHECK(matrix.inseparable_terms.front() == std::vector<std::string>{"arithmetic", "pixels"});
}

TEST_CASE("points without a working GPU say nothing, and none at all gives an empty matrix") {
  std::vector<StimulatedPoint> points = suite(0.05);
  points.push_back(point("chase", "vector", 4096));  // no units at all
  const StimulusMatrix matrix = fit_stimulus_matrix(points, kLevels);
  CHECK(matrix.points == 0);
  CHECK(matrix.units.empty());
  CHECK(matrix.terms.empty());
  CHECK(fit_stimulus_matrix({}, {}).points == 0);
}

TEST_CASE("nodes that lie far apart are found in caches that hold their lines") {
  std::mt19937_64 random(5);
  std::vector<StimulatedPoint> points = suite(0.8);
  StimulatedPoint sparse = point("chase", "vector", 16 * kMib);
  sparse.stride_bytes = 64 * kKib;  // 256 nodes: 32 KiB of lines
  sparse.units = {unit("GUI_ACTIVE", 1), unit("TA_BUSY", 0.95), unit("TCP_BUSY", 0.95),
                  unit("GL2CC_BUSY", 0), unit("EA_BUSY", 0)};
  points.push_back(sparse);
  const StimulusMatrix matrix = fit_stimulus_matrix(points, kLevels);
  CHECK(response(matrix, "EA_BUSY", "memory") == Approx(0.8).epsilon(0.05));
}

TEST_CASE("a copy of a unit in a shader engine's register is the same unit") {
  std::vector<StimulatedPoint> points = suite(0.8);
  for (StimulatedPoint& each : points) {
    each.units.push_back({.key = {"GRBM_STATUS_SE0", "TA_BUSY"},
                          .busy = 0.5,
                          .counts = std::nullopt,
                          .ci95 = std::nullopt});
  }
  const StimulusMatrix matrix = fit_stimulus_matrix(points, kLevels);
  const auto named_ta = std::ranges::count_if(
      matrix.units, [](const UnitResponse& each) { return each.key.name == "TA_BUSY"; });
  CHECK(named_ta == 1);
  CHECK(response(matrix, "TA_BUSY", "vector") == Approx(0.95).epsilon(0.02));
}

}  // namespace
}  // namespace gputrace::test
