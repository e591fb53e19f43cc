// Streams of known intensity on the simulated GPU as points of a calibration: busy fractions
// sampled in virtual time.
#pragma once

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cstdint>
#include <optional>
#include <random>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "cli/analysis/calibration.h"
#include "daemon/simulated_gpu/steady_signal.h"
#include "daemon/simulated_gpu/stimulus.h"

namespace gputrace::test {

struct SimulatedStream {
  int group_threads = 256;
  double read_bytes = 64;  ///< a thread
  double written_bytes = 64;
  double intensity = 1;  ///< FLOP/B
  double dram_latency_ns = 310;
  double power_limit_w = 54;
  std::uint64_t seed = 1;
};

/// As many samples as a stretch of seconds at 1 kHz has, each at an instant of its own.
inline std::vector<analysis::BusyUnit> sample_units(const simulated_gpu::SteadySignal& signal,
                                                    std::uint64_t samples, std::mt19937_64& rng) {
  using simulated_gpu::Unit;
  constexpr std::array<std::pair<Unit, std::pair<std::string_view, std::string_view>>, 9> kUnits{{
      {Unit::kGui, {"GRBM_STATUS", "GUI_ACTIVE"}},
      {Unit::kSpi, {"GRBM_STATUS", "SPI_BUSY"}},
      {Unit::kTa, {"GRBM_STATUS", "TA_BUSY"}},
      {Unit::kTcp, {"GRBM_STATUS2", "TCP_BUSY"}},
      {Unit::kEa, {"GRBM_STATUS2", "EA_BUSY"}},
      {Unit::kUtcl2, {"GRBM_STATUS2", "UTCL2_BUSY"}},
      {Unit::kGl1, {"GRBM_STATUS3", "GL1CC_BUSY"}},
      {Unit::kGl2, {"GRBM_STATUS3", "GL2CC_BUSY"}},
      {Unit::kCh, {"GRBM_STATUS3", "CH_BUSY"}},
  }};
  constexpr std::uint64_t kPeriodNs = 1'000'000;
  std::vector<analysis::Counts> counts(kUnits.size());
  std::uniform_int_distribution<std::uint64_t> instant(0, kPeriodNs - 1);
  simulated_gpu::UnitMask before = 0;
  for (std::uint64_t i = 0; i < samples; ++i) {
    const auto state = signal.state_at(i * kPeriodNs + instant(rng), 1);
    for (std::size_t u = 0; u < kUnits.size(); ++u) {
      const auto bit = simulated_gpu::bit_of(kUnits.at(u).first);
      counts[u].samples += 1;
      counts[u].busy += (state & bit) != 0 ? 1 : 0;
      counts[u].changes += i > 0 && ((state ^ before) & bit) != 0 ? 1 : 0;
    }
    before = state;
  }
  std::vector<analysis::BusyUnit> units;
  for (std::size_t u = 0; u < kUnits.size(); ++u) {
    const auto& [register_name, name] = kUnits.at(u).second;
    units.push_back(
        {.key = {std::string(register_name), std::string(name)},
         .busy = static_cast<double>(counts[u].busy) / static_cast<double>(counts[u].samples),
         .counts = counts[u],
         .ci95 = analysis::ci95(counts[u], {})});
  }
  return units;
}

/// Absent when the simulated GPU refuses the stream.
inline std::optional<analysis::CalibrationPoint> measure(const SimulatedStream& stream,
                                                         std::uint64_t samples,
                                                         std::mt19937_64& rng) {
  using namespace simulated_gpu;
  GpuDescription gpu = simulated_models().front().gpu;
  gpu.dram_latency_ns = stream.dram_latency_ns;
  const double bytes = stream.read_bytes + stream.written_bytes;
  constexpr double kTrafficBytes = 1 << 30;
  constexpr double kMostFlops = 6e10;
  const double threads = std::max(
      262144.0,
      std::min(kTrafficBytes / bytes, kMostFlops / std::max(1.0, stream.intensity * bytes)));
  const std::string text = fmt::format(
      R"({{"threads": {}, "group_threads": {}, "flops": {}, "access": "{}", "read_bytes": {},
           "written_bytes": {}}})",
      threads, stream.group_threads, stream.intensity * bytes,
      stream.read_bytes > 0 ? "stream" : "none", stream.read_bytes, stream.written_bytes);
  const auto played = parse_stimulus(text, gpu);
  if (!played) {
    return std::nullopt;
  }
  const auto signal = SteadySignal::build(
      gpu, played->workload,
      {.power_limit_w = stream.power_limit_w, .seed = stream.seed, .variants = 1});
  if (!signal) {
    return std::nullopt;
  }
  const OperatingPoint& at = signal->operating_point();
  analysis::CalibrationPoint point;
  point.family = fmt::format("{:g}+{:g}", stream.read_bytes, stream.written_bytes);
  point.workload = fmt::format("{} at {:g}", point.family, stream.intensity);
  point.group_threads = static_cast<std::uint32_t>(stream.group_threads);
  point.intensity = stream.intensity;
  point.gbps = at.dram_gbps();
  point.gflops = at.work.flops / at.length_ns;
  point.clock_mhz = at.clock_ghz * 1000;
  point.power_w = at.power_w;
  point.units = sample_units(*signal, samples, rng);
  return point;
}

/// Of the points, with the ceilings that they reached.
inline analysis::Calibration calibration_of(std::vector<analysis::CalibrationPoint> points) {
  analysis::Calibration calibration;
  calibration.conditions.gpu = "simulated Radeon 780M";
  calibration.conditions.simulated = true;
  double gflops = 0;
  double gbps = 0;
  double clock_mhz = 0;
  double power_w = 0;
  const auto count = static_cast<double>(points.size());
  for (const analysis::CalibrationPoint& point : points) {
    gflops = std::max(gflops, point.gflops.value_or(0));
    gbps = std::max(gbps, point.gbps.value_or(0));
    clock_mhz += point.clock_mhz.value_or(0) / count;
    power_w += point.power_w.value_or(0) / count;
  }
  calibration.compute = analysis::Ceiling{
      .name = "fp32", .value = gflops, .lower = {}, .upper = {}, .unit = "GFLOPS"};
  calibration.bandwidth = analysis::Ceiling{
      .name = "DRAM copy", .value = gbps, .lower = {}, .upper = {}, .unit = "GB/s"};
  for (analysis::CalibrationPoint& point : points) {
    constexpr double kNear = 0.9;
    point.truth = point.gbps.value_or(0) > kNear * gbps ? analysis::Bottleneck::kBandwidth
                                                        : analysis::Bottleneck::kCompute;
  }
  calibration.conditions.clock_mhz = clock_mhz;
  calibration.conditions.power_w = power_w;
  calibration.points = std::move(points);
  return calibration;
}

/// Of a recording in which only this ran.
inline analysis::Conditions conditions_of(const analysis::Calibration& calibration,
                                          const analysis::CalibrationPoint& point) {
  analysis::Conditions conditions = calibration.conditions;
  conditions.clock_mhz = point.clock_mhz;
  conditions.power_w = point.power_w;
  return conditions;
}

}  // namespace gputrace::test
