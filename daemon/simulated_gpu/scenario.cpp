#include "daemon/simulated_gpu/scenario.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <numeric>

#include "daemon/base/time.h"
#include "daemon/simulated_gpu/kernels.h"

namespace gputrace::simulated_gpu {

namespace {

/// Steady scenarios are for recordings of any length; one begins anew after this.
constexpr double kSteadySeconds = 3600;

ScenarioPhase phase(std::string label, double seconds, Workload workload, int variants) {
  return {std::move(label), std::move(workload),
          static_cast<std::int64_t>(seconds * static_cast<double>(kNsPerSecond)), variants};
}

ScenarioPhase idle(double seconds) {
  return phase("idle", seconds, {.name = "idle", .passes = {}}, 1);
}

ScenarioPhase game(double seconds) {
  return phase("game", seconds, game_frame({}), 4);
}

/// A light frame at a fixed rate: the GPU waits for the CPU most of the time.
ScenarioPhase cpu_bound(double seconds) {
  GameFrameOptions options;
  options.cpu_ms = 16;
  options.cpu_w = 12;
  options.post = false;
  return phase("cpu-bound", seconds, game_frame(options), 2);
}

ScenarioPhase bandwidth(double seconds) {
  constexpr double kFma = 2;  // half a FLOP a byte: far below the ridge
  return phase("bandwidth", seconds, flop_sweep(kFma), 2);
}

ScenarioPhase compute(double seconds) {
  constexpr double kFma = 512;  // 128 FLOPs a byte: far above the ridge
  return phase("compute", seconds, flop_sweep(kFma), 2);
}

ScenarioPhase chase(double seconds, const GpuDescription& gpu) {
  return phase("chase", seconds, pointer_chase(gpu, 1, 64), 1);
}

ScenarioPhase texture(double seconds, const GpuDescription& gpu) {
  return phase("texture", seconds, random_texture(gpu, 64, 16), 2);
}

ScenarioPhase fill(double seconds) {
  return phase("fill", seconds, colour_fill(0, 4, 0.588), 2);
}

/// Phases of 2 to 3 s, and work first: a recording of a few seconds shows something.
std::vector<ScenarioPhase> demo_phases(const GpuDescription& gpu) {
  return {game(2.5),    bandwidth(2),      cpu_bound(2), compute(2.5),  idle(2),
          game(3),      texture(2.5, gpu), fill(2),      chase(2, gpu), cpu_bound(2.5),
          compute(2.5), bandwidth(2.5),    idle(2)};
}

}  // namespace

const std::vector<BuiltInScenario>& built_in_scenarios() {
  static const std::vector<BuiltInScenario> kScenarios = {
      {"demo", "a game, bandwidth, compute, texture, fill and latency bound work, and idle"},
      {"game", "frames of a game at 1080p (the 780M is their limit, faster GPUs wait for the CPU)"},
      {"cpu-bound", "a light frame every 16 ms: the GPU waits for the CPU"},
      {"bandwidth", "streaming reads and writes at 0.5 FLOP a byte"},
      {"compute", "multiply-adds at 128 FLOP a byte"},
      {"chase", "one pointer chase over 64 MiB: memory latency and nothing else"},
      {"texture", "bilinear fetches at random places of a 64 x 64 texture"},
      {"fill", "a full-screen RGBA8 fill"},
      {"idle", "nothing to do"},
      {kBenchScenario, "idle but for the kernels that roofline and bench play on it"},
  };
  return kScenarios;
}

Result<Scenario> make_built_in_scenario(std::string_view name, const SimulatedModel& model) {
  Scenario scenario;
  for (const BuiltInScenario& known : built_in_scenarios()) {
    if (known.name == name) {
      scenario.name = known.name;
      scenario.description = known.description;
    }
  }
  scenario.gpu = model.gpu;
  scenario.power_limit_w = model.power_limit_w;
  if (name == "demo") {
    scenario.phases = demo_phases(model.gpu);
  } else if (name == "game") {
    scenario.phases = {game(kSteadySeconds)};
  } else if (name == "cpu-bound") {
    scenario.phases = {cpu_bound(kSteadySeconds)};
  } else if (name == "bandwidth") {
    scenario.phases = {bandwidth(kSteadySeconds)};
  } else if (name == "compute") {
    scenario.phases = {compute(kSteadySeconds)};
  } else if (name == "chase") {
    scenario.phases = {chase(kSteadySeconds, model.gpu)};
  } else if (name == "texture") {
    scenario.phases = {texture(kSteadySeconds, model.gpu)};
  } else if (name == "fill") {
    scenario.phases = {fill(kSteadySeconds)};
  } else if (name == "idle" || name == kBenchScenario) {
    scenario.phases = {idle(kSteadySeconds)};
  } else {
    std::vector<std::string_view> names;
    for (const BuiltInScenario& known : built_in_scenarios()) {
      names.push_back(known.name);
    }
    return fail(ErrorCode::kNotFound,
                fmt::format("no simulated scenario is called \"{}\": use {}, or a file that ends "
                            "in .json",
                            name, fmt::join(names, ", ")));
  }
  return scenario;
}

std::int64_t Scenario::duration_ns() const {
  return std::accumulate(
      phases.begin(), phases.end(), std::int64_t{0},
      [](std::int64_t sum, const ScenarioPhase& item) { return sum + item.duration_ns; });
}

}  // namespace gputrace::simulated_gpu
