#include "tests/cli/analysis/simulated_work.h"

#include <doctest/doctest.h>

#include <array>
#include <cmath>
#include <utility>

#include "daemon/simulated_gpu/period.h"
#include "tests/support/busy_signal.h"
#include "tests/support/error_text.h"

namespace gputrace::test {

using simulated_gpu::GpuDescription;
using simulated_gpu::Period;
using simulated_gpu::Unit;

namespace {

const std::vector<std::pair<analysis::UnitKey, Unit>>& modelled_units() {
  static const std::vector<std::pair<analysis::UnitKey, Unit>> kUnits = {
      {{"GRBM_STATUS", "GUI_ACTIVE"}, Unit::kGui}, {{"GRBM_STATUS", "SPI_BUSY"}, Unit::kSpi},
      {{"GRBM_STATUS", "TA_BUSY"}, Unit::kTa},     {{"GRBM_STATUS", "SC_BUSY"}, Unit::kSc},
      {{"GRBM_STATUS", "DB_BUSY"}, Unit::kDb},     {{"GRBM_STATUS", "CB_BUSY"}, Unit::kCb},
      {{"GRBM_STATUS", "SX_BUSY"}, Unit::kSx},     {{"GRBM_STATUS", "GE_BUSY"}, Unit::kGe},
      {{"GRBM_STATUS", "PA_BUSY"}, Unit::kPa},     {{"GRBM_STATUS2", "TCP_BUSY"}, Unit::kTcp},
      {{"GRBM_STATUS2", "EA_BUSY"}, Unit::kEa},    {{"GRBM_STATUS3", "GL1CC_BUSY"}, Unit::kGl1},
      {{"GRBM_STATUS3", "GL2CC_BUSY"}, Unit::kGl2}};
  return kUnits;
}

Period run(const SimulatedWork& work, const GpuDescription& gpu, bool record_tape) {
  auto period = simulated_gpu::run_period(gpu, work.workload,
                                          {.clock_ghz = work.clock_ghz,
                                           .seed = 17,
                                           .cpu_ms = work.workload.cpu_ms,
                                           .record_tape = record_tape});
  REQUIRE_MESSAGE(period.has_value(), error_text(period));
  return std::move(*period);
}

}  // namespace

SimulatedSample sample(const SimulatedWork& work, double seconds, std::uint64_t seed) {
  const Period period = run(work, work.gpu, true);
  REQUIRE(period.tape.has_value());
  const auto& tape = *period.tape;
  SignalRandom random(seed);
  const auto samples = static_cast<std::uint64_t>(seconds * 1000);
  std::vector<analysis::Counts> counts(modelled_units().size());
  std::vector<bool> before(counts.size());
  for (std::uint64_t i = 0; i < samples; ++i) {
    const auto at_ns =
        static_cast<std::uint64_t>((static_cast<double>(i) + random.uniform()) * 1e6);
    const auto state = tape.state_at(at_ns % tape.length_ns());
    for (std::size_t u = 0; u < counts.size(); ++u) {
      const bool busy = (state & simulated_gpu::bit_of(modelled_units()[u].second)) != 0;
      ++counts[u].samples;
      counts[u].busy += busy ? 1 : 0;
      counts[u].changes += i > 0 && busy != before[u] ? 1 : 0;
      before[u] = busy;
    }
  }
  SimulatedSample made;
  for (std::size_t u = 0; u < counts.size(); ++u) {
    made.stretch.units.push_back(
        {.key = modelled_units()[u].first,
         .busy = static_cast<double>(counts[u].busy) / static_cast<double>(samples),
         .counts = counts[u],
         .ci95 = analysis::ci95(counts[u], {})});
  }
  made.dram_gbps =
      (period.work.dram_read_bytes + period.work.dram_written_bytes) / period.length_ns;
  made.work_share = period.gpu_ns / period.length_ns;
  return made;
}

double SpeedFollows::of(analysis::Bottleneck bottleneck) const {
  using enum analysis::Bottleneck;
  switch (bottleneck) {
    case kBandwidth:
      return bandwidth;
    case kLatency:
      return latency;
    case kMemory:
      return std::max(bandwidth, latency);
    case kCompute:
      return compute;
    case kTexture:
      return texture;
    case kRaster:
      return raster;
    default:
      return 0;
  }
}

analysis::Bottleneck SpeedFollows::limit() const {
  using enum analysis::Bottleneck;
  for (const auto bottleneck : {kBandwidth, kLatency, kCompute, kTexture, kRaster}) {
    if (of(bottleneck) > 0.5) {
      return bottleneck;
    }
  }
  return kMixed;
}

SpeedFollows what_speed_follows(const SimulatedWork& work) {
  constexpr double kFaster = 1.25;
  const double usual_ns = run(work, work.gpu, false).gpu_ns;
  const auto follows = [&](auto change) {
    GpuDescription gpu = work.gpu;
    change(gpu);
    return (usual_ns / run(work, gpu, false).gpu_ns - 1) / (kFaster - 1);
  };
  SpeedFollows speed;
  speed.bandwidth = follows([](GpuDescription& gpu) { gpu.dram_peak_gbps *= kFaster; });
  speed.latency = follows([](GpuDescription& gpu) {
    for (double* latency : {&gpu.dram_latency_ns, &gpu.dram_latency_tail_ns, &gpu.l0_latency_clk,
                            &gpu.gl1_latency_clk, &gpu.gl2_latency_clk}) {
      *latency /= kFaster;
    }
  });
  speed.compute = follows([](GpuDescription& gpu) {
    gpu.dual_issue_flops_per_clk_cu *= kFaster;
    gpu.instruction_fetch_bytes_per_clk_cu *= kFaster;
  });
  speed.texture = follows([](GpuDescription& gpu) {
    for (double* width : {&gpu.l0_fill_bytes_per_clk_cu, &gpu.l0_lines_per_clk_cu,
                          &gpu.gl1_bytes_per_clk, &gpu.gl2_bytes_per_clk}) {
      *width *= kFaster;
    }
  });
  speed.raster = follows([](GpuDescription& gpu) {
    for (double* rate : {&gpu.rop_pixels_per_clk, &gpu.export_pixels_per_clk,
                         &gpu.raster_pixels_per_clk, &gpu.depth_pixels_per_clk}) {
      *rate *= kFaster;
    }
    gpu.spi_clk_per_wave /= kFaster;
    gpu.spi_clk_per_wave_interpolated /= kFaster;
  });
  return speed;
}

}  // namespace gputrace::test
