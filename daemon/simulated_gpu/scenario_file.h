// Scenarios from JSON files, for tests and for trying what a report would say. A file may be
// hostile: every number has limits, and so has what the whole scenario costs to compute.
#pragma once

#include <string_view>

#include "daemon/base/result.h"
#include "daemon/simulated_gpu/scenario.h"

namespace gputrace::simulated_gpu {

/// {"description": "...", "power_limit_w": 54, "seed": 1,
///  "gpu": {"dram_latency_ns", "dram_peak_gbps", "simd_time_spread"},     all optional
///  "phases": [{"kind": "game", "seconds": 2.5, "label": "...", "variants": 4, ...}, ...]}
/// Kinds and their own members, all optional:
///   idle | scalar | sweep: fma | fill: fma, bytes, issue_share | chase: chains, footprint_mib
///   random-texture, coherent-texture: side, fetches
///   game: resolution, flops, texture_misses, shadow_pixels (factors), passes: some of "shadow",
///         "opaque", "blended", "post", "interface"
/// Every kind but idle: gap_us, cpu_ms, cpu_w, frame_cap_fps, group_threads.
[[nodiscard]] Result<Scenario> read_scenario_file(std::string_view path,
                                                  const SimulatedModel& model);
/// `name` becomes the scenario's name and is put in front of error messages, which name the key and
/// what is wrong with it.
[[nodiscard]] Result<Scenario> parse_scenario(std::string_view text, std::string_view name,
                                              const SimulatedModel& model);

}  // namespace gputrace::simulated_gpu
