#include "daemon/simulated_gpu/playback.h"

#include <doctest/doctest.h>
#include <fmt/format.h>

#include <atomic>
#include <cmath>
#include <string>
#include <thread>

#include "daemon/base/time.h"
#include "daemon/simulated_gpu/kernels.h"
#include "daemon/simulated_gpu/simulated_sensors.h"
#include "daemon/simulated_gpu/stimulus.h"
#include "tests/daemon/simulated_gpu/model_figures.h"
#include "tests/support/error_text.h"

namespace gputrace::test {
namespace {

using namespace simulated_gpu;
using doctest::Approx;

constexpr double kThreads = 8388608;
const std::string kStream = R"({"threads": 8388608, "flops": 64, "access": "stream",
                                "read_bytes": 16, "written_bytes": 16})";
const std::string kCompute = R"({"threads": 1048576, "flops": 65536})";

std::shared_ptr<const Simulation> simulation_of(const Scenario& scenario) {
  const SimulatedModel& model = simulated_models().front();
  const auto map = regdb::RegisterDatabase::built_in().map_for(model.gc);
  REQUIRE(map.has_value());
  auto simulation = Simulation::load(model, scenario, *map, {});
  REQUIRE_MESSAGE(simulation.has_value(), error_text(simulation));
  return std::make_shared<const Simulation>(std::move(*simulation));
}

Scenario bench_scenario() {
  auto scenario = make_built_in_scenario(kBenchScenario, simulated_models().front());
  REQUIRE(scenario.has_value());
  return *scenario;
}

/// Half a second of a stream, half a second of nothing.
const std::shared_ptr<const Simulation>& streaming_scenario() {
  static const std::shared_ptr<const Simulation> kSimulation = [] {
    Scenario scenario = bench_scenario();
    scenario.phases = {{"stream", flop_sweep(2), kNsPerSecond / 2, 1},
                       {"idle", {}, kNsPerSecond / 2, 1}};
    return simulation_of(scenario);
  }();
  return kSimulation;
}

const std::shared_ptr<const Simulation>& idle_scenario() {
  static const std::shared_ptr<const Simulation> kSimulation = simulation_of(bench_scenario());
  return kSimulation;
}

std::shared_ptr<const PlayedKernel> prepare(Playback& playback, const std::string& text) {
  auto kernel = playback.prepare(text);
  REQUIRE_MESSAGE(kernel.has_value(), error_text(kernel));
  return *kernel;
}

TEST_CASE("a played kernel moves the bytes and FLOPs that its time says") {
  Playback playback(idle_scenario());
  StimulusTimes times(bench_scenario());
  for (const double fma : {1.0, 64.0, 256.0}) {
    CAPTURE(fma);
    const std::string text = fmt::format(
        R"({{"threads": {}, "flops": {}, "access": "stream", "read_bytes": 16,
             "written_bytes": 16}})",
        kThreads, 32 * fma);
    const auto run = times.run(text);
    REQUIRE_MESSAGE(run.has_value(), error_text(run));
    const auto kernel = prepare(playback, text);
    const double period_s = (run->gpu_ns + run->host_ns) * 1e-9;
    CHECK(kernel->load.dram_read_bytes_per_s == Approx(kThreads * 16 / period_s).epsilon(0.01));
    CHECK(kernel->load.dram_written_bytes_per_s == Approx(kThreads * 16 / period_s).epsilon(0.01));
    const OperatingPoint& point = kernel->signal.operating_point();
    CHECK(point.work.flops / point.gpu_ns ==
          Approx(kThreads * 32 * fma / run->gpu_ns).epsilon(0.01));
    CHECK(point.work.flops == Approx(kThreads * 32 * fma).epsilon(0.001));
    CHECK(kernel->load.clock_mhz == Approx(run->clock_ghz * 1000));
    CHECK(kernel->load.steady_w == Approx(run->power_w).epsilon(0.01));
    // The pause of the host is all that GUI_ACTIVE lacks.
    CHECK(busy_percent(kernel->signal, Unit::kGui) ==
          Approx(100 * run->gpu_ns / (run->gpu_ns + run->host_ns)).epsilon(0.002));
  }
}

TEST_CASE("a played sweep point keeps the units as busy as a scenario's sweep phase does") {
  Playback playback(idle_scenario());
  for (const double fma : {2.0, 256.0}) {
    CAPTURE(fma);
    const Workload model = flop_sweep(fma);
    const SteadySignal phase = build(simulated_models().front().gpu, model, 54, 2);
    const auto kernel = prepare(
        playback, fmt::format(R"({{"threads": {}, "flops": {}, "access": "stream", "read_bytes": 16,
                                   "written_bytes": 16, "code_bytes": {}}})",
                              kThreads, 32 * fma, model.passes.front().code_kib * 1024));
    for (const Unit unit : {Unit::kGui, Unit::kSpi, Unit::kTa, Unit::kTcp, Unit::kGl1, Unit::kGl2,
                            Unit::kEa, Unit::kCb, Unit::kUtcl2}) {
      CAPTURE(index_of(unit));
      CHECK(std::abs(busy_percent(kernel->signal, unit) - busy_percent(phase, unit)) < 1.2);
    }
  }
}

TEST_CASE("a kernel shows from its begin on, its scenario before it and after its end") {
  Playback playback(streaming_scenario());
  const Simulation& scenario = playback.simulation();
  const auto kernel = prepare(playback, kCompute);
  constexpr std::int64_t kBegin = 700'000'000;
  constexpr std::int64_t kEnd = 1'200'000'000;
  playback.begin(kernel, kBegin);
  playback.begin(nullptr, kEnd);
  std::int64_t played_busy = 0;
  for (std::int64_t time_ns = 0; time_ns < 2 * kNsPerSecond; time_ns += 77'777) {
    const UnitMask state = playback.state_at(time_ns);
    if (time_ns < kBegin || time_ns >= kEnd) {
      CHECK(state == scenario.state_at(time_ns));
    } else {
      played_busy += (state & bit_of(Unit::kGui)) != 0 ? 1 : 0;
      CHECK((state & bit_of(Unit::kEa)) == 0);  // it reads nothing
    }
  }
  CHECK(played_busy > 6000);
  CHECK(playback.load_at(kBegin - 1).clock_mhz == scenario.operating_point(1).clock_ghz * 1000);
  CHECK(playback.load_at(kBegin).clock_mhz == kernel->load.clock_mhz);
  CHECK(playback.load_at(kEnd).clock_mhz == scenario.operating_point(0).clock_ghz * 1000);
}

TEST_CASE("the truth is the integral of the states, across plays") {
  Playback playback(streaming_scenario());
  playback.begin(prepare(playback, kCompute), 100'000'000);
  playback.begin(prepare(playback, kStream), 104'000'000);
  playback.begin(nullptr, 109'000'000);
  constexpr std::int64_t kStepNs = 100;
  constexpr std::int64_t kFrom = 98'000'000;
  constexpr std::int64_t kTo = 112'000'000;
  for (const Unit unit : {Unit::kGui, Unit::kSpi, Unit::kEa, Unit::kTa}) {
    CAPTURE(index_of(unit));
    std::int64_t busy = 0;
    for (std::int64_t time_ns = kFrom; time_ns < kTo; time_ns += kStepNs) {
      busy += (playback.state_at(time_ns) & bit_of(unit)) != 0 ? kStepNs : 0;
    }
    const std::int64_t truth = playback.busy_ns(unit, kFrom, kTo);
    CHECK(std::abs(truth - busy) < (kTo - kFrom) / 1000);
    CHECK(playback.busy_ns(unit, kFrom, 104'000'001) + playback.busy_ns(unit, 104'000'001, kTo) ==
          truth);
  }
}

TEST_CASE("power and temperature lag behind plays without a jump, and energy is their integral") {
  const auto playback = std::make_shared<Playback>(streaming_scenario());
  constexpr std::int64_t kBegin = kNsPerSecond;
  constexpr std::int64_t kEnd = 3 * kNsPerSecond;
  const auto kernel = prepare(*playback, kCompute);
  playback->begin(kernel, kBegin);
  playback->begin(nullptr, kEnd);
  const SimulatedSensors sensors(playback);
  CHECK(sensors.at(kEnd - 1).package_now_w == Approx(kernel->load.steady_w).epsilon(1e-3));
  double energy_j = 0;
  constexpr std::int64_t kStepNs = 1'000'000;
  PowerState before = playback->power_at(0);
  for (std::int64_t time_ns = 0; time_ns < 6 * kNsPerSecond; time_ns += kStepNs) {
    energy_j += playback->power_at(time_ns + kStepNs / 2).power_w * 1e-3;
    const PowerState now = playback->power_at(time_ns + kStepNs);
    CHECK(std::abs(now.power_w - before.power_w) < 2);
    CHECK(std::abs(now.temperature_c - before.temperature_c) < 0.01);
    before = now;
    if (time_ns % (kNsPerSecond / 4) == 0) {
      CHECK(sensors.energy_j(0, time_ns + kStepNs) == Approx(energy_j).epsilon(1e-4));
    }
  }
  // Long after a play nothing is left of it.
  const PowerState later = playback->power_at(600 * kNsPerSecond);
  const PowerCourse alone = LoadCourse(*streaming_scenario()).power();
  CHECK(later.power_w == Approx(alone.at(600 * kNsPerSecond).power_w));
  CHECK(later.temperature_c == Approx(alone.at(600 * kNsPerSecond).temperature_c));
}

TEST_CASE("sensors show clock, traffic and activity of what is played") {
  const auto playback = std::make_shared<Playback>(idle_scenario());
  const auto kernel = prepare(*playback, kStream);
  playback->begin(kernel, kNsPerSecond);
  playback->begin(nullptr, 2 * kNsPerSecond);
  const SimulatedSensors sensors(playback);
  const SensorValues idle = sensors.at(kNsPerSecond - 1);
  CHECK(idle.gfx_activity == 0);
  CHECK(idle.dram_read_bytes == 0);
  CHECK(idle.gfx_clock_mhz == Approx(400));
  const SensorValues played = sensors.at(2 * kNsPerSecond - 1);
  CHECK(played.gfx_clock_mhz == Approx(2600));
  CHECK(played.gfx_activity > 0.9);
  CHECK(played.memory_activity == Approx(0.78).epsilon(0.05));
  const double bytes = sensors.dram_read_bytes(kNsPerSecond, 2 * kNsPerSecond);
  CHECK(bytes == Approx(kernel->load.dram_read_bytes_per_s));
  CHECK(sensors.at(5 * kNsPerSecond).dram_read_bytes == Approx(bytes));
  CHECK(sensors.at(5 * kNsPerSecond).gfx_activity == 0);
  CHECK(sensors.at(5 * kNsPerSecond).gfx_clock_average_mhz == Approx(400));
}

TEST_CASE("a stimulus that was just played is not computed again, and a bad one changes nothing") {
  Playback playback(idle_scenario());
  const auto kernel = prepare(playback, kStream);
  playback.begin(kernel, 1000);
  CHECK(prepare(playback, kStream) == kernel);
  CHECK(prepare(playback, kCompute) != kernel);
  CHECK(prepare(playback, kStream) == kernel);
  CHECK_FALSE(playback.prepare(R"({"threads": 0})").has_value());
  CHECK(playback.load_at(2000).works);
}

TEST_CASE("hundreds of plays keep their sums") {
  const auto playback = std::make_shared<Playback>(idle_scenario());
  const auto kernel = prepare(*playback, kStream);
  constexpr std::int64_t kPlayNs = 10'000'000;
  constexpr std::int64_t kPlays = 300;
  for (std::int64_t i = 0; i < kPlays; ++i) {
    playback->begin(kernel, 2 * i * kPlayNs);
    playback->begin(nullptr, (2 * i + 1) * kPlayNs);
  }
  const std::int64_t end_ns = 2 * kPlays * kPlayNs;
  const SimulatedSensors sensors(playback);
  CHECK(sensors.at(end_ns).dram_read_bytes ==
        Approx(kernel->load.dram_read_bytes_per_s * static_cast<double>(kPlays) * 0.01));
  const std::int64_t one = playback->busy_ns(Unit::kGui, end_ns - 2 * kPlayNs, end_ns);
  CHECK(playback->busy_ns(Unit::kGui, 0, end_ns) == kPlays * one);
  CHECK(one > kPlayNs * 8 / 10);
  // Of a time before the plays that are kept, nothing falls back to the scenario alone.
  CHECK(sensors.at(kPlayNs).dram_read_bytes > 0.9 * sensors.at(end_ns).dram_read_bytes);
}

TEST_CASE("a play that would begin before the last one begins with it") {
  Playback playback(idle_scenario());
  playback.begin(prepare(playback, kStream), 5'000'000);
  playback.begin(nullptr, 1'000'000);
  CHECK_FALSE(playback.load_at(6'000'000).works);
  CHECK_FALSE(playback.load_at(2'000'000).works);
}

TEST_CASE("other threads read while plays begin and end") {
  const auto playback = std::make_shared<Playback>(idle_scenario());
  const auto kernel = prepare(*playback, kStream);
  std::atomic<bool> done = false;
  std::atomic<std::int64_t> time_ns = 0;
  std::atomic<std::int64_t> reads = 0;
  const auto read_registers = [&] {
    while (!done) {
      static_cast<void>(playback->state_at(time_ns));
      ++reads;
    }
  };
  const auto read_sensors = [&] {
    const SimulatedSensors sensors(playback);
    double before = 0;
    while (!done) {
      const double now = sensors.at(time_ns).dram_read_bytes;
      CHECK(now >= before);
      before = now;
      ++reads;
    }
  };
  std::thread registers(read_registers);
  std::thread sensors(read_sensors);
  for (int i = 1; i <= 200 || reads < 200; ++i) {
    playback->begin(i % 2 == 1 ? kernel : nullptr, time_ns);
    time_ns += 1'000'000;
  }
  done = true;
  registers.join();
  sensors.join();
}

}  // namespace
}  // namespace gputrace::test
