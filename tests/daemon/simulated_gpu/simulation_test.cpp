#include "daemon/simulated_gpu/simulation.h"

#include <doctest/doctest.h>

#include <algorithm>
#include <set>
#include <thread>

#include "daemon/base/time.h"
#include "daemon/simulated_gpu/kernels.h"
#include "tests/daemon/simulated_gpu/model_figures.h"
#include "tests/support/error_text.h"

namespace gputrace::test {
namespace {

using namespace simulated_gpu;

constexpr std::int64_t kPhaseNs = 8'000'000;
constexpr std::int64_t kRoundNs = 5 * kPhaseNs;

/// Phases of a few milliseconds, cheap to build: streams, chases, a small game frame and nothing.
Scenario small_scenario(std::uint64_t seed = 1) {
  const SimulatedModel& model = simulated_models().front();
  const Workload frame = game_frame({.resolution = 0.02, .shadow_pixels = 0.02, .cpu_ms = 1});
  Scenario scenario;
  scenario.name = "small";
  scenario.gpu = model.gpu;
  scenario.power_limit_w = model.power_limit_w;
  scenario.seed = seed;
  scenario.phases = {{"game", frame, kPhaseNs, 4},
                     {"stream", flop_sweep(2), kPhaseNs, 1},
                     {"idle", {}, kPhaseNs, 1},
                     {"chase", pointer_chase(model.gpu, 1, 64), kPhaseNs, 1},
                     {"game", frame, kPhaseNs, 4}};
  return scenario;
}

Simulation load(const Scenario& scenario) {
  const SimulatedModel& model = simulated_models().front();
  const auto map = regdb::RegisterDatabase::built_in().map_for(model.gc);
  REQUIRE(map.has_value());
  auto simulation = Simulation::load(model, scenario, *map, {});
  REQUIRE_MESSAGE(simulation.has_value(), error_text(simulation));
  return std::move(*simulation);
}

TEST_CASE("the exact truth equals a count of every nanosecond, across phases and rounds") {
  const Simulation simulation = load(small_scenario());
  for (const std::int64_t middle : {kPhaseNs, 2 * kPhaseNs + 3, 4 * kPhaseNs, kRoundNs,
                                    7 * kRoundNs + kPhaseNs / 2, std::int64_t{0}}) {
    CAPTURE(middle);
    const std::int64_t begin_ns = middle - 100'001;
    const std::int64_t end_ns = middle + 100'002;
    std::array<std::int64_t, kUnitCount> counted{};
    for (std::int64_t time_ns = begin_ns; time_ns < end_ns; ++time_ns) {
      const UnitMask state = simulation.state_at(time_ns);
      for (std::size_t unit = 0; unit < kUnitCount; ++unit) {
        counted[unit] += state >> unit & 1U;
      }
    }
    for (std::size_t unit = 0; unit < kUnitCount; ++unit) {
      CAPTURE(unit);
      CHECK(simulation.busy_ns(static_cast<Unit>(unit), begin_ns, end_ns) == counted[unit]);
    }
  }
}

TEST_CASE("truth adds up over neighbouring intervals and never exceeds them") {
  const Simulation simulation = load(small_scenario());
  Random random(3);
  for (int i = 0; i < 300; ++i) {
    const auto begin_ns = static_cast<std::int64_t>(random.uniform() * 3e12);
    const auto first = static_cast<std::int64_t>(random.uniform() * 5e6);
    const auto second = static_cast<std::int64_t>(random.uniform() * 5e6);
    for (const Unit unit : {Unit::kEa, Unit::kTa, Unit::kGui}) {
      const std::int64_t a = simulation.busy_ns(unit, begin_ns, begin_ns + first);
      const std::int64_t b = simulation.busy_ns(unit, begin_ns + first, begin_ns + first + second);
      CHECK(a + b == simulation.busy_ns(unit, begin_ns, begin_ns + first + second));
      CHECK(a >= 0);
      CHECK(a <= first);
    }
  }
}

TEST_CASE("GUI_ACTIVE is set wherever any unit is busy, and only there") {
  const Simulation simulation = load(small_scenario());
  Random random(5);
  int busy = 0;
  for (int i = 0; i < 20'000; ++i) {
    const UnitMask state = simulation.state_at(static_cast<std::int64_t>(random.uniform() * 40e6));
    const bool gui = (state & bit_of(Unit::kGui)) != 0;
    CHECK(gui == ((state & ~bit_of(Unit::kGui)) != 0));
    busy += gui ? 1 : 0;
  }
  CHECK(busy > 1000);
  CHECK(busy < 19'000);
}

TEST_CASE("the idle phase and the time before the scenario are idle in every register") {
  const Simulation simulation = load(small_scenario());
  for (const std::int64_t time_ns :
       {std::int64_t{-1}, -kNsPerSecond, 2 * kPhaseNs, 3 * kPhaseNs - 1}) {
    CHECK(simulation.state_at(time_ns) == 0);
    CHECK(simulation.word(0, simulation.state_at(time_ns)) == 0x00003028);
  }
  CHECK(simulation.busy_ns(Unit::kGui, -kNsPerSecond, 0) == 0);
  CHECK(simulation.busy_ns(Unit::kGui, 2 * kPhaseNs, 3 * kPhaseNs) == 0);
  CHECK(simulation.busy_ns(Unit::kGui, 0, kPhaseNs) > 0);
}

TEST_CASE("the scenario begins again when it has ended") {
  const Simulation simulation = load(small_scenario());
  for (std::int64_t time_ns = 0; time_ns < 5 * kPhaseNs; time_ns += 12'345) {
    CHECK(simulation.state_at(time_ns) == simulation.state_at(time_ns + 3 * kRoundNs));
  }
}

TEST_CASE("two simulations of one seed are the same, another seed differs") {
  const Simulation one = load(small_scenario());
  const Simulation same = load(small_scenario());
  const Simulation other = load(small_scenario(2));
  int differences = 0;
  for (std::int64_t time_ns = 0; time_ns < kPhaseNs; time_ns += 997) {
    CHECK(one.state_at(time_ns) == same.state_at(time_ns));
    differences += one.state_at(time_ns) != other.state_at(time_ns) ? 1 : 0;
  }
  CHECK(differences > 100);
}

TEST_CASE("every superblock holds each variant once, in changing orders") {
  const SteadySignal signal =
      build(simulated_models().front().gpu,
            game_frame({.resolution = 0.01, .shadow_pixels = 0.01, .cpu_ms = 0}), 54, 8);
  std::set<std::vector<std::size_t>> orders;
  for (std::uint64_t block = 0; block < 200; ++block) {
    std::vector<std::size_t> order;
    order.reserve(8);
    for (std::size_t place = 0; place < 8; ++place) {
      order.push_back(signal.variant_at(block, place, 99));
    }
    orders.insert(order);
    std::sort(order.begin(), order.end());
    CHECK(order == std::vector<std::size_t>{0, 1, 2, 3, 4, 5, 6, 7});
  }
  CHECK(orders.size() > 20);
}

TEST_CASE("the truth of a register's field is that of its unit") {
  const Simulation simulation = load(small_scenario());
  const std::int64_t end_ns = 5 * kPhaseNs;
  CHECK(simulation.busy_ns("GRBM_STATUS2", "EA_BUSY", 0, end_ns) ==
        simulation.busy_ns(Unit::kEa, 0, end_ns));
  CHECK(simulation.busy_ns("GRBM_STATUS_SE0", "TA_BUSY", 0, end_ns) ==
        simulation.busy_ns("GRBM_STATUS", "TA_BUSY", 0, end_ns));
  CHECK(simulation.busy_ns("GRBM_STATUS2", "RLC_BUSY", 0, end_ns) == 0);
  CHECK_FALSE(simulation.busy_ns("GRBM_STATUS", "DB_CLEAN", 0, end_ns).has_value());
  CHECK_FALSE(simulation.busy_ns("GRBM_STATUS", "NO_SUCH", 0, end_ns).has_value());
  CHECK_FALSE(simulation.busy_ns("GRBM_STATUS_SE1", "TA_BUSY", 0, end_ns).has_value());
}

TEST_CASE("threads that read one simulation see the same states") {
  const Simulation simulation = load(small_scenario());
  const auto sum_states = [&simulation](std::uint64_t& sum) {
    for (std::int64_t time_ns = 0; time_ns < 5 * kPhaseNs; time_ns += 701) {
      sum = sum * 31 + simulation.state_at(time_ns) +
            static_cast<std::uint64_t>(simulation.busy_ns(Unit::kEa, 0, time_ns));
    }
  };
  std::array<std::uint64_t, 3> sums{};
  {
    std::vector<std::jthread> threads;
    threads.reserve(sums.size());
    for (std::uint64_t& sum : sums) {
      threads.emplace_back([&sum_states, &sum] { sum_states(sum); });
    }
  }
  CHECK(sums[0] == sums[1]);
  CHECK(sums[0] == sums[2]);
}

TEST_CASE("a period that is too long for a tape is an error that names the phase") {
  Scenario scenario = small_scenario();
  scenario.phases.front().workload.cpu_ms = 5'000;
  const SimulatedModel& model = simulated_models().front();
  const auto map = regdb::RegisterDatabase::built_in().map_for(model.gc);
  REQUIRE(map.has_value());
  const auto simulation = Simulation::load(model, scenario, *map, {});
  REQUIRE_FALSE(simulation.has_value());
  CHECK(simulation.error().code == ErrorCode::kInvalidArgument);
  CHECK(simulation.error().message.find("\"game\"") != std::string::npos);
  CHECK(simulation.error().message.find("at most 4 s") != std::string::npos);
}

}  // namespace
}  // namespace gputrace::test
