#include <doctest/doctest.h>

#include <cmath>
#include <vector>

#include "cli/analysis/change_point/angles.h"
#include "cli/analysis/change_point/noise.h"
#include "cli/analysis/change_point/seeded_search.h"
#include "cli/analysis/change_point/stretches.h"
#include "tests/support/busy_signal_cases.h"

namespace gputrace::analysis::change_point {
namespace {

CellTable table_of(const GridSource& source) {
  const auto units = searched_units(source.units());
  const auto table = read_table(source, units, 0, source.cells(), 1);
  REQUIRE(table.has_value());
  return *table;
}

Noise noise_of(const GridSource& source) {
  const CellTable table = table_of(source);
  return measure_noise(table, Angles(table));
}

TEST_CASE("a bit that repeats the others of its register is left out") {
  const std::vector<UnitKey> units{
      {"GRBM_STATUS", "TA_BUSY"}, {"GRBM_STATUS", "ANY_ACTIVE"}, {"GRBM_STATUS", "GUI_ACTIVE"}};
  CHECK(searched_units(units) == std::vector<std::size_t>{0, 2});
}

TEST_CASE("noise of independent samples is that of the arcsine, whatever the busy share") {
  test::BusySignal signal;
  signal.units = test::signal_units();
  signal.units.resize(3);
  signal.relaxation_ms.assign(3, 0.01);
  signal.phases = {{.seconds = 120, .passes = {{.share = 1, .duty = {0.2, 0.5, 0.9}}}}};
  const Noise noise = noise_of(generate(signal));
  for (const double sigma : noise.sigma) {
    CHECK(sigma == doctest::Approx(0.05).epsilon(0.1));
  }
  CHECK(noise.trace == doctest::Approx(3).epsilon(0.15));
  CHECK(noise.largest < 1.3);
}

TEST_CASE("units that move together raise the penalty") {
  test::BusySignal signal;
  signal.units = test::signal_units();
  signal.units.resize(8);
  signal.relaxation_ms.assign(8, 2);
  signal.phases = {{.seconds = 120, .passes = {{.share = 1, .duty = std::vector<double>(8, 0.5)}}}};
  const Noise apart = noise_of(generate(signal));
  signal.common = 0.9;
  const Noise together = noise_of(generate(signal));
  CHECK(together.largest > 4);
  CHECK(together.penalty(1000) > 2 * apart.penalty(1000));
  CHECK(apart.penalty(36'000) > apart.penalty(1000));
}

TEST_CASE("the best split of a step is its edge, and a flat line explains nothing") {
  CellTable table;
  table.columns.push_back({.unit = 0, .cells = {}, .usual_samples = 100});
  for (int i = 0; i < 300; ++i) {
    table.columns[0].cells.push_back({100, static_cast<std::uint16_t>(i < 137 ? 20 : 60)});
    table.states.push_back(CellState::kAwake);
  }
  const std::vector<double> sigma{0.05};
  const Scores scores(table, sigma, Angles(table));
  const auto split = best_split(scores, 0, 300);
  REQUIRE(split.has_value());
  CHECK(split->cell == 137);
  const double step = (arcsine(60, 100) - arcsine(20, 100)) / 0.05;
  CHECK(split->gain == doctest::Approx(step * step * 137 * 163 / 300));
  CHECK(search(scores, 0, 300, split->gain / 2) == std::vector<std::size_t>{137});
  CHECK(search(scores, 0, 300, split->gain * 2).empty());
  const auto flat = best_split(scores, 0, 100);
  CHECK((!flat || flat->gain < 1e-6));
  CHECK_FALSE(best_split(scores, 0, 2 * kMinCells - 1).has_value());
}

TEST_CASE("short sleep and short holes belong to what is beside them") {
  const auto states_of = [](const char* letters) {
    std::vector<CellState> states;
    for (const char* letter = letters; *letter != 0; ++letter) {
      states.push_back(*letter == 'a'   ? CellState::kAwake
                       : *letter == 's' ? CellState::kAsleep
                                        : CellState::kNothingKnown);
    }
    return states;
  };
  CHECK(find_stretches(states_of(""), 0.1).empty());
  CHECK(find_stretches(states_of("---aaa"), 0.1).size() == 1);
  CHECK(find_stretches(states_of("aaasaaa"), 0.1).size() == 1);
  const auto sleep = find_stretches(states_of("aaa-ssssaa"), 0.1);
  REQUIRE(sleep.size() == 3);
  CHECK(sleep[1].first == 4);
  CHECK(sleep[1].last == 8);
  CHECK(sleep[1].state == CellState::kAsleep);
  CHECK(find_stretches(states_of("aaa---------aaa"), 0.1).size() == 1);
  CHECK(find_stretches(states_of("aaa----------aaa"), 0.1).size() == 3);
  CHECK(find_stretches(states_of("a-a"), 1).size() == 3);
}

}  // namespace
}  // namespace gputrace::analysis::change_point
