#include "daemon/simulated_gpu/simulated_sensors.h"

#include <doctest/doctest.h>

#include "daemon/base/time.h"
#include "daemon/simulated_gpu/kernels.h"
#include "tests/support/error_text.h"

namespace gputrace::test {
namespace {

using namespace simulated_gpu;

constexpr std::int64_t kRoundNs = 4 * kNsPerSecond;

/// A small frame, streams, nothing, and wide arithmetic: cheap to build.
Scenario small_scenario(const SimulatedModel& model) {
  GameFrameOptions frame{.resolution = 0.02, .shadow_pixels = 0.02, .cpu_ms = 1};
  frame.cpu_w = 7;
  Scenario scenario;
  scenario.name = "small";
  scenario.gpu = model.gpu;
  scenario.power_limit_w = model.power_limit_w;
  scenario.phases = {{"game", game_frame(frame), kNsPerSecond, 2},
                     {"stream", flop_sweep(2), kNsPerSecond, 1},
                     {"idle", {}, kNsPerSecond, 1},
                     {"compute", flop_sweep(256), kNsPerSecond, 1}};
  return scenario;
}

std::shared_ptr<const Simulation> load(const Scenario& scenario, const SimulatedModel& model) {
  const auto map = regdb::RegisterDatabase::built_in().map_for(model.gc);
  REQUIRE(map.has_value());
  auto simulation = Simulation::load(model, scenario, *map, {});
  REQUIRE_MESSAGE(simulation.has_value(), error_text(simulation));
  return std::make_shared<const Simulation>(std::move(*simulation));
}

const std::shared_ptr<const Simulation>& small_simulation() {
  static const std::shared_ptr<const Simulation> kSimulation =
      load(small_scenario(simulated_models().front()), simulated_models().front());
  return kSimulation;
}

TEST_CASE("energy is the integral of the power shown") {
  const SimulatedSensors sensors(small_simulation());
  double sum_j = 0;
  constexpr std::int64_t kStepNs = 1'000'000;
  const std::int64_t begin_ns = kNsPerSecond / 2;
  const std::int64_t end_ns = 3 * kRoundNs / 2;
  for (std::int64_t time_ns = begin_ns; time_ns < end_ns; time_ns += kStepNs) {
    sum_j += sensors.at(time_ns + kStepNs / 2).package_now_w * 1e-3;
  }
  CHECK(sensors.energy_j(begin_ns, end_ns) == doctest::Approx(sum_j).epsilon(1e-4));
  CHECK(sensors.at(end_ns).package_j - sensors.at(begin_ns).package_j ==
        doctest::Approx(sum_j).epsilon(1e-4));
}

TEST_CASE("the averages of readings that follow each other are the average of the whole") {
  const SimulatedSensors sensors(small_simulation());
  const std::int64_t end_ns = 2 * kRoundNs;
  double power_w = 0;
  double activity = 0;
  double clock_mhz = 0;
  double memory_activity = 0;
  const int readings = static_cast<int>(end_ns / kFirmwareWindowNs);
  for (int i = 1; i <= readings; ++i) {
    const SensorValues values = sensors.at(i * kFirmwareWindowNs);
    power_w += values.package_w / readings;
    activity += values.gfx_activity / readings;
    clock_mhz += values.gfx_clock_average_mhz / readings;
    memory_activity += values.memory_activity / readings;
  }
  CHECK(power_w == doctest::Approx(sensors.energy_j(0, end_ns) / 8));
  CHECK(activity == doctest::Approx(sensors.gfx_activity(0, end_ns)));
  CHECK(clock_mhz == doctest::Approx(sensors.mean_gfx_clock_mhz(0, end_ns)));
  const double bytes = sensors.dram_read_bytes(0, end_ns) + sensors.dram_written_bytes(0, end_ns);
  CHECK(memory_activity == doctest::Approx(bytes / 8 / 89.6e9));
}

TEST_CASE("gfx activity is the share of time that GUI_ACTIVE is set in the words") {
  const auto& simulation = small_simulation();
  const SimulatedSensors sensors(simulation);
  for (const std::int64_t end_ns :
       {std::int64_t{300'000'000}, kNsPerSecond + 30'000'000, 5 * kNsPerSecond}) {
    std::int64_t busy = 0;
    constexpr std::int64_t kStepNs = 500;
    for (std::int64_t time_ns = end_ns - kFirmwareWindowNs; time_ns < end_ns; time_ns += kStepNs) {
      busy += (simulation->word(0, simulation->state_at(time_ns)) >> 31U) & 1U;
    }
    CHECK(sensors.at(end_ns).gfx_activity ==
          doctest::Approx(static_cast<double>(busy * kStepNs) / kFirmwareWindowNs).epsilon(0.002));
  }
}

TEST_CASE("DRAM bytes grow at the rate of the phase") {
  const auto& simulation = small_simulation();
  const SimulatedSensors sensors(simulation);
  for (std::size_t phase = 0; phase < 4; ++phase) {
    CAPTURE(phase);
    const auto begin_ns = static_cast<std::int64_t>(phase) * kNsPerSecond + 10'000'000;
    const std::int64_t end_ns = begin_ns + kNsPerSecond / 2;
    const OperatingPoint& point = simulation->operating_point(phase);
    const bool idle = phase == 2;
    const double periods = idle ? 0 : kNsPerSecond / 2.0 / point.length_ns;
    CHECK(sensors.dram_read_bytes(begin_ns, end_ns) ==
          doctest::Approx(periods * point.work.dram_read_bytes));
    CHECK(sensors.dram_written_bytes(begin_ns, end_ns) ==
          doctest::Approx(periods * point.work.dram_written_bytes));
    CHECK(sensors.at(end_ns).dram_read_bytes - sensors.at(begin_ns).dram_read_bytes ==
          doctest::Approx(periods * point.work.dram_read_bytes));
  }
  // Half a FLOP a byte is bound by DRAM: about 73 of 89.6 GB/s.
  CHECK(sensors.at(2 * kNsPerSecond - 1).memory_activity == doctest::Approx(0.78).epsilon(0.05));
  CHECK(sensors.dram_read_bytes(-kNsPerSecond, 0) == 0);
}

TEST_CASE("power, clock and temperature stay within the limits of the model") {
  const SimulatedModel& model = simulated_models().front();
  for (const double limit_w : {15.0, 54.0}) {
    CAPTURE(limit_w);
    Scenario scenario = small_scenario(model);
    scenario.power_limit_w = limit_w;
    const auto simulation = load(scenario, model);
    const SimulatedSensors sensors(simulation);
    bool reached_limit = false;
    for (std::int64_t time_ns = 0; time_ns < 10 * kRoundNs; time_ns += 37'000'000) {
      const SensorValues values = sensors.at(time_ns);
      CHECK(values.package_w <= limit_w);
      CHECK(values.package_now_w >= 3.2 - 1e-9);
      CHECK(values.gfx_clock_mhz <= 2600);
      CHECK(values.gfx_clock_mhz >= 400);
      CHECK(values.temperature_c >= 34.75);
      CHECK(values.temperature_c <= 34.75 + 0.55 * limit_w);
      CHECK(values.gfx_v <= 1.19);
      CHECK(values.gfx_w >= -1e-9);
      CHECK(values.soc_w >= 0);
      CHECK(values.cpu_w >= 0);
      CHECK(values.gfx_w + values.soc_w + values.cpu_w == doctest::Approx(values.package_w));
      reached_limit = reached_limit || values.package_now_w > 0.98 * limit_w;
    }
    CHECK(reached_limit == (limit_w == 15.0));
  }
}

TEST_CASE("the clock shown is the one that the words were computed with") {
  const auto& simulation = small_simulation();
  const SimulatedSensors sensors(simulation);
  for (std::size_t phase = 0; phase < 4; ++phase) {
    const auto middle_ns = static_cast<std::int64_t>(phase) * kNsPerSecond + kNsPerSecond / 2;
    CHECK(sensors.at(middle_ns).gfx_clock_mhz ==
          doctest::Approx(simulation->operating_point(phase).clock_ghz * 1000));
    CHECK(sensors.at(middle_ns).package_now_w ==
          doctest::Approx(simulation->operating_point(phase).power_w).epsilon(0.01));
  }
}

TEST_CASE("a game's CPU has its share of the package power, other loads none") {
  const auto& simulation = small_simulation();
  const SimulatedSensors sensors(simulation);
  CHECK(simulation->operating_point(0).cpu_w == doctest::Approx(7));
  CHECK(sensors.at(900'000'000).cpu_w == doctest::Approx(7).epsilon(0.01));
  CHECK(sensors.at(kNsPerSecond + 900'000'000).cpu_w == 0);
}

TEST_CASE("before the scenario the sensors show an idle GPU") {
  const SimulatedSensors sensors(small_simulation());
  const SensorValues values = sensors.at(-kNsPerSecond);
  CHECK(values.package_w == doctest::Approx(3.2));
  CHECK(values.gfx_activity == 0);
  CHECK(values.memory_activity == 0);
  CHECK(values.gfx_clock_average_mhz == doctest::Approx(400));
  CHECK(values.fan_rpm == doctest::Approx(1590 + 52 * (34.75 + 0.55 * 3.2 - 43)));
}

TEST_CASE("two loads of one scenario show the same values, a round later too where they repeat") {
  const SimulatedModel& model = simulated_models().front();
  const SimulatedSensors one(small_simulation());
  const SimulatedSensors same(load(small_scenario(model), model));
  for (std::int64_t time_ns = 0; time_ns < kRoundNs; time_ns += 71'000'000) {
    const SensorValues a = one.at(time_ns);
    const SensorValues b = same.at(time_ns);
    CHECK(a.package_w == b.package_w);
    CHECK(a.temperature_c == b.temperature_c);
    CHECK(a.gfx_activity == b.gfx_activity);
    CHECK(a.dram_read_bytes == b.dram_read_bytes);
    CHECK(one.at(time_ns + kRoundNs).gfx_clock_mhz == a.gfx_clock_mhz);
  }
}

}  // namespace
}  // namespace gputrace::test
