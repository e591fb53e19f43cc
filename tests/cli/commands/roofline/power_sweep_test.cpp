#include "cli/commands/roofline/power_sweep.h"

#include <doctest/doctest.h>

#include <algorithm>
#include <memory>

#include "tests/support/fake_clock.h"

namespace gputrace {
namespace {

using commands::PowerSweep;

/// A machine whose package power follows the limit within a second.
struct Machine {
  Machine() {
    steps.set = [this](std::uint32_t watts) -> Status {
      calls.push_back("set " + std::to_string(watts));
      if (watts == failing_watts) {
        return fail(ErrorCode::kIo, "it ended with exit status 1");
      }
      limit_w = watts;
      set_ns = clock.now_ns();
      return {};
    };
    steps.restore = [this]() -> Status {
      calls.emplace_back("restore");
      return restores ? Status() : fail(ErrorCode::kIo, "it ended with exit status 2");
    };
    steps.load = [this]() -> Status {
      clock.advance(100 * kNsPerMs);
      return {};
    };
    steps.measure = [this](const std::function<bool()>& stop) {
      commands::LevelResult result;
      clock.advance(kNsPerSecond);
      if (lost) {
        result.error = fail(ErrorCode::kIo, "the device was lost").value();
        return result;
      }
      if (stop()) {
        return result;
      }
      calls.push_back("measure at " + std::to_string(static_cast<int>(limit_w)));
      result.copy = value(72);
      result.peak = value(100 * limit_w);
      return result;
    };
    steps.power_w = [this]() -> std::optional<double> {
      if (!sensors) {
        return std::nullopt;
      }
      const bool follows = obeys && clock.now_ns() - set_ns > kNsPerSecond;
      return std::min(follows ? limit_w : 45.0, most_w);
    };
    steps.temperature_c = [this]() -> std::optional<double> {
      return sensors ? std::optional(30 + limit_w * degrees_a_watt) : std::nullopt;
    };
    steps.fan_rpm = [this]() -> std::optional<double> {
      return sensors ? std::optional(1500.0) : std::nullopt;
    };
    steps.cancelled = [this] { return cancelled; };
  }

  static analysis::DerivedValue value(double number) {
    analysis::DerivedValue value;
    value.value = number;
    value.lower = number * 0.99;
    value.upper = number * 1.01;
    return value;
  }

  PowerSweep run(const std::vector<std::uint32_t>& levels, double max_temperature_c = 95) {
    return commands::run_power_sweep(
        levels, max_temperature_c, steps, clock,
        [this](LogLevel, std::string_view text) { log.emplace_back(text); });
  }

  test::FakeClock clock;
  commands::PowerSweepSteps steps;
  std::vector<std::string> calls;
  std::vector<std::string> log;
  double limit_w = 45;
  std::int64_t set_ns = 0;
  double most_w = 200;
  double degrees_a_watt = 0.5;
  std::uint32_t failing_watts = 0;
  bool restores = true;
  bool obeys = true;
  bool sensors = true;
  bool lost = false;
  bool cancelled = false;
};

bool contains(const std::string& text, const char* part) {
  return text.find(part) != std::string::npos;
}

TEST_CASE("each level is set, followed, measured, and the limit restored at the end") {
  Machine machine;
  const auto sweep = machine.run({15, 25});
  CHECK(machine.calls ==
        std::vector<std::string>{"set 15", "measure at 15", "set 25", "measure at 25", "restore"});
  REQUIRE(sweep.levels.size() == 2);
  CHECK_FALSE(sweep.stopped.has_value());
  CHECK_FALSE(sweep.restore_failed.has_value());
  CHECK(sweep.levels[0].package_w == 15.0);
  CHECK(sweep.levels[1].temperature_c == 30 + 25 * 0.5);
  CHECK(sweep.levels[1].fan_rpm == 1500.0);
  CHECK(sweep.levels[0].note.empty());
}

TEST_CASE("a limit that package power does not follow stops the sweep, which restores") {
  Machine machine;
  machine.obeys = false;
  const auto sweep = machine.run({15, 25});
  CHECK(sweep.levels.empty());
  REQUIRE(sweep.stopped);
  CHECK(contains(sweep.stopped->message, "45.0 W"));
  CHECK(machine.calls == std::vector<std::string>{"set 15", "restore"});
}

TEST_CASE("a limit that the load does not reach is said") {
  Machine machine;
  machine.most_w = 29;
  const auto sweep = machine.run({54});
  REQUIRE(sweep.levels.size() == 1);
  CHECK(contains(sweep.levels[0].note, "29.0 W"));
}

TEST_CASE("without sensors each level says that it was not verified") {
  Machine machine;
  machine.sensors = false;
  const auto sweep = machine.run({15});
  REQUIRE(sweep.levels.size() == 1);
  CHECK(contains(sweep.levels[0].note, "not verified"));
  CHECK_FALSE(sweep.levels[0].package_w.has_value());
  CHECK(contains(machine.log.front(), "--max-temp"));
}

TEST_CASE("above the highest temperature the sweep ends, with the levels before") {
  Machine machine;
  machine.degrees_a_watt = 2;
  const auto sweep = machine.run({15, 25, 35, 54}, 75);
  CHECK(sweep.levels.size() == 1);
  REQUIRE(sweep.stopped);
  CHECK(contains(sweep.stopped->message, "80 C"));
  CHECK(contains(sweep.stopped->message, "at 25 W"));
  CHECK(machine.calls.back() == "restore");
}

TEST_CASE("a command that fails stops the sweep and the limit is restored") {
  Machine machine;
  machine.failing_watts = 25;
  const auto sweep = machine.run({15, 25, 35});
  CHECK(sweep.levels.size() == 1);
  REQUIRE(sweep.stopped);
  CHECK(contains(sweep.stopped->message, "exit status 1"));
  CHECK(machine.calls.back() == "restore");

  Machine stuck;
  stuck.restores = false;
  CHECK(stuck.run({15}).restore_failed.has_value());
}

TEST_CASE("a lost device stops the sweep and the limit is restored") {
  Machine machine;
  machine.lost = true;
  const auto sweep = machine.run({15, 25});
  REQUIRE(sweep.stopped);
  CHECK(contains(sweep.stopped->message, "lost"));
  CHECK(machine.calls.back() == "restore");
}

TEST_CASE("Ctrl-C is no error: the levels before are kept and the limit restored") {
  Machine machine;
  const auto plain_measure = machine.steps.measure;
  machine.steps.measure = [&](const std::function<bool()>& stop) {
    auto result = plain_measure(stop);
    machine.cancelled = machine.limit_w == 25;
    return result;
  };
  const auto sweep = machine.run({15, 25, 35});
  CHECK(sweep.levels.size() == 2);
  CHECK_FALSE(sweep.stopped.has_value());
  CHECK(machine.calls.back() == "restore");
}

TEST_CASE("the table has a row a level, and ? for what no sensor told") {
  Machine machine;
  const auto table = commands::power_table(machine.run({15, 54}).levels);
  CHECK(contains(table, "      15     15.0       72.0       1500    20.8   38    1500\n"));
  Machine blind;
  blind.sensors = false;
  const auto other = commands::power_table(blind.run({15}).levels);
  CHECK(contains(other, "      15        ?       72.0       1500    20.8    ?       ?\n"));
  CHECK(contains(other, "at 15 W: not verified"));
}

TEST_CASE("results are tests over the power limit; quantities without values are left out") {
  Machine machine;
  const auto sweep = machine.run({15, 54});
  const auto results = commands::power_results(sweep);
  REQUIRE(results.size() == 6);
  CHECK(results[0].id == "power.copy");
  CHECK(results[2].id == "power.ridge");
  CHECK(results[2].series.front().points[1].median == 5400.0 / 72);
  CHECK(results[1].series.front().points[0].p5.has_value());
  Machine blind;
  blind.sensors = false;
  CHECK(commands::power_results(blind.run({15})).size() == 3);
}

}  // namespace
}  // namespace gputrace
