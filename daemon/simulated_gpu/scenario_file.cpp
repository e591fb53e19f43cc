#include "daemon/simulated_gpu/scenario_file.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>
#include <sstream>
#include <system_error>

#include "daemon/base/time.h"
#include "daemon/simulated_gpu/json_members.h"
#include "daemon/simulated_gpu/kernels.h"
#include "daemon/simulated_gpu/period.h"
#include "daemon/simulated_gpu/steady_signal.h"

namespace gputrace::simulated_gpu {

namespace {

using Json = nlohmann::json;

constexpr std::uintmax_t kMaxFileBytes = 1U << 20U;
constexpr std::size_t kMaxPhases = 32;
/// About a minute of computing and a gigabyte of tapes at worst.
constexpr double kMaxRecordedSteps = 24e6;

void choose_passes(JsonMembers& members, GameFrameOptions& options) {
  const Json* names = members.find("passes");
  if (names == nullptr) {
    return;
  }
  const std::pair<std::string_view, bool*> passes[] = {{"shadow", &options.shadow},
                                                       {"opaque", &options.opaque},
                                                       {"blended", &options.blended},
                                                       {"post", &options.post},
                                                       {"interface", &options.interface}};
  for (const auto& pass : passes) {
    *pass.second = false;
  }
  bool valid = names->is_array() && !names->empty();
  for (const Json& name : valid ? *names : Json::array()) {
    const auto* const found =
        std::find_if(std::begin(passes), std::end(passes), [&](const auto& pass) {
          return name.is_string() && name.get_ref<const std::string&>() == pass.first;
        });
    valid = valid && found != std::end(passes);
    if (found != std::end(passes)) {
      *found->second = true;
    }
  }
  if (!valid) {
    members.complain("passes", "must list some of shadow, opaque, blended, post, interface");
  }
}

Workload read_game(JsonMembers& members) {
  GameFrameOptions options;
  options.resolution = members.number("resolution", options.resolution, {0.01, 4});
  options.flops = members.number("flops", options.flops, {0, 16});
  options.texture_misses = members.number("texture_misses", options.texture_misses, {0, 8});
  options.shadow_pixels = members.number("shadow_pixels", options.shadow_pixels, {0.01, 8});
  choose_passes(members, options);
  return game_frame(options);
}

Workload read_workload(JsonMembers& members, const std::string& kind, const GpuDescription& gpu) {
  constexpr NumberRange kFma{0, 4096};
  constexpr NumberRange kSide{1, 16384};
  constexpr NumberRange kFetches{1, 64};
  if (kind == "game") {
    return read_game(members);
  }
  if (kind == "sweep") {
    return flop_sweep(members.number("fma", 2, kFma));
  }
  if (kind == "scalar") {
    return scalar_peak();
  }
  if (kind == "chase") {
    const int chains = members.integer("chains", 1, {1, 40});
    return pointer_chase(gpu, chains, members.number("footprint_mib", 64, {0.001, 65536}));
  }
  if (kind == "random-texture") {
    const double side = members.number("side", 64, kSide);
    return random_texture(gpu, side, members.integer("fetches", 16, kFetches));
  }
  if (kind == "coherent-texture") {
    const double side = members.number("side", 64, kSide);
    return coherent_texture(side, members.integer("fetches", 16, kFetches));
  }
  if (kind == "fill") {
    const double fma = members.number("fma", 0, kFma);
    const int bytes = members.integer("bytes", 4, {1, 16});
    return colour_fill(fma, bytes, members.number("issue_share", 0.588, {0.05, 1}));
  }
  if (kind != "idle") {
    members.complain("kind",
                     "must be one of idle, game, sweep, scalar, chase, random-texture, "
                     "coherent-texture, fill");
  }
  return {};
}

void read_common(JsonMembers& members, Workload& workload) {
  workload.gap_us = members.number("gap_us", workload.gap_us, {0, 100'000});
  workload.cpu_ms = members.number("cpu_ms", workload.cpu_ms, {0, 500});
  workload.cpu_w = members.number("cpu_w", workload.cpu_w, {0, 100});
  workload.frame_cap_fps = members.number("frame_cap_fps", workload.frame_cap_fps, {1, 10'000});
  const int group_threads = members.integer("group_threads", 0, {64, 1024});
  if (group_threads % kWaveThreads != 0) {
    members.complain("group_threads", "must be a multiple of 64");
  }
  if (group_threads > 0) {
    for (Pass& pass : workload.passes) {
      pass.group_threads = group_threads;
    }
  }
}

Result<ScenarioPhase> read_phase(const Json& object, const std::string& where,
                                 const GpuDescription& gpu) {
  JsonMembers members(object, where);
  ScenarioPhase phase;
  const std::string kind = members.text("kind", "");
  phase.workload = read_workload(members, kind, gpu);
  if (!phase.workload.passes.empty()) {
    read_common(members, phase.workload);
  }
  phase.label = members.text("label", kind);
  phase.duration_ns =
      std::llround(members.number("seconds", 1, {0.001, 36'000}) * double{kNsPerSecond});
  phase.variants = members.integer("variants", kind == "game" ? 4 : 2, {1, kMaxVariants});
  if ((phase.variants & (phase.variants - 1)) != 0) {
    members.complain("variants", "must be 1, 2, 4, 8 or 16");
  }
  if (auto finished = members.finish(); !finished) {
    return tl::unexpected(finished.error());
  }
  return phase;
}

Status read_gpu(const Json* object, GpuDescription& gpu) {
  if (object == nullptr) {
    return {};
  }
  JsonMembers members(*object, "gpu");
  gpu.dram_latency_ns = members.number("dram_latency_ns", gpu.dram_latency_ns, {80, 5000});
  gpu.dram_peak_gbps = members.number("dram_peak_gbps", gpu.dram_peak_gbps, {1, 5000});
  gpu.simd_time_spread = members.number("simd_time_spread", gpu.simd_time_spread, {0, 0.5});
  return members.finish();
}

Status read_phases(const Json* phases, Scenario& scenario) {
  if (phases == nullptr || !phases->is_array() || phases->empty() || phases->size() > kMaxPhases) {
    return fail(ErrorCode::kInvalidArgument,
                fmt::format("phases must be a list of 1 to {} objects", kMaxPhases));
  }
  double steps = 0;
  for (std::size_t i = 0; i < phases->size(); ++i) {
    auto phase = read_phase((*phases)[i], fmt::format("phases[{}]", i), scenario.gpu);
    if (!phase) {
      return tl::unexpected(phase.error());
    }
    steps += count_wave_steps(phase->workload) * phase->variants;
    scenario.phases.push_back(std::move(*phase));
  }
  if (steps > kMaxRecordedSteps) {
    return fail(ErrorCode::kInvalidArgument,
                fmt::format("phases have {:.0f} million steps of waves to simulate, at most {:.0f} "
                            "are allowed: lower \"variants\" or \"resolution\"",
                            steps / 1e6, kMaxRecordedSteps / 1e6));
  }
  return {};
}

Result<Scenario> read_scenario(const Json& document, std::string_view name,
                               const SimulatedModel& model) {
  JsonMembers members(document, "");
  Scenario scenario;
  scenario.name = name;
  scenario.gpu = model.gpu;
  scenario.description = members.text("description", "");
  scenario.power_limit_w = members.number("power_limit_w", model.power_limit_w, {1, 1000});
  scenario.seed = static_cast<std::uint64_t>(members.number("seed", 1, {0, 1e15}));
  const Json* gpu = members.find("gpu");
  const Json* phases = members.find("phases");
  if (auto finished = members.finish(); !finished) {
    return tl::unexpected(finished.error());
  }
  if (auto read = read_gpu(gpu, scenario.gpu); !read) {
    return tl::unexpected(read.error());
  }
  if (auto read = read_phases(phases, scenario); !read) {
    return tl::unexpected(read.error());
  }
  return scenario;
}

}  // namespace

Result<Scenario> parse_scenario(std::string_view text, std::string_view name,
                                const SimulatedModel& model) {
  const std::string context = fmt::format("scenario {}", name);
  Json document;
  try {
    document = Json::parse(text);
  } catch (const Json::exception& error) {
    return fail(ErrorCode::kInvalidArgument,
                fmt::format("{}: not JSON: {}", context, error.what()));
  }
  auto scenario = read_scenario(document, name, model);
  return scenario ? std::move(scenario) : fail(scenario.error(), context);
}

Result<Scenario> read_scenario_file(std::string_view path, const SimulatedModel& model) {
  const std::filesystem::path file(path);
  std::error_code error;
  const bool regular = std::filesystem::is_regular_file(file, error);
  if (error) {
    return fail_errno(error.value(), fmt::format("cannot read scenario {}", path));
  }
  if (!regular || std::filesystem::file_size(file, error) > kMaxFileBytes || error) {
    return fail(ErrorCode::kInvalidArgument,
                fmt::format("cannot read scenario {}: not a regular file of at most 1 MiB", path));
  }
  std::ifstream stream(file, std::ios::binary);
  std::ostringstream text;
  if (!stream || !(text << stream.rdbuf())) {
    return fail(ErrorCode::kIo,
                fmt::format("cannot read scenario {}: empty or not readable", path));
  }
  return parse_scenario(text.str(), path, model);
}

}  // namespace gputrace::simulated_gpu
