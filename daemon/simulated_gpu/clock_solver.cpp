#include "daemon/simulated_gpu/clock_solver.h"

#include <algorithm>
#include <cmath>

namespace gputrace::simulated_gpu {

namespace {

struct Load {
  double activity = 0;  ///< while GUI_ACTIVE
  double gui_share = 0;
};

Load load_of(const GpuDescription& gpu, const Period& period) {
  const double unit_ns = period.length_ns * gpu.compute_units;
  // Only useful work heats: addresses and colours less than arithmetic [C, with the seven
  // constants].
  const double activity =
      std::min(1.0, period.work.simd_busy_ns / unit_ns + 0.3 * (period.work.ta_busy_ns / unit_ns) +
                        0.3 * (period.work.cb_busy_ns / period.length_ns));
  const double gui_share = period.gpu_ns / period.length_ns;
  return {activity / std::max(gui_share, 0.01), gui_share};
}

OperatingPoint point_of(const Period& period, double clock_ghz, double cpu_ms) {
  OperatingPoint point;
  point.clock_ghz = clock_ghz;
  point.cpu_ms = cpu_ms;
  point.length_ns = period.length_ns;
  point.gpu_ns = period.gpu_ns;
  point.work = period.work;
  return point;
}

Result<OperatingPoint> run_at(const GpuDescription& gpu, const Workload& workload, double limit_w,
                              std::uint64_t seed, double clock_ghz) {
  PeriodOptions options{
      .clock_ghz = clock_ghz, .seed = seed, .cpu_ms = workload.cpu_ms, .record_tape = false};
  auto period = run_period(gpu, workload, options);
  if (!period) {
    return tl::unexpected(period.error());
  }
  double cpu_w = workload.cpu_w;
  if (workload.cpu_w > 0) {
    // CPU and GPU share the limit in proportion to what they would like; the CPU's time grows with
    // the cube root of what it lacks, as dynamic power goes with f V^2 and V with f [A].
    const Load load = load_of(gpu, *period);
    const OperatingPoint point = point_of(*period, clock_ghz, options.cpu_ms);
    const double wanted_w =
        gpu.power_w(gpu.max_clock_ghz, load.activity, point.dram_gbps(), load.gui_share) +
        workload.cpu_w;
    const double share = std::min(1.0, limit_w / wanted_w);
    cpu_w = workload.cpu_w * share;
    options.cpu_ms = workload.cpu_ms / std::cbrt(share);
    period = run_period(gpu, workload, options);
    if (!period) {
      return tl::unexpected(period.error());
    }
  }
  const Load load = load_of(gpu, *period);
  OperatingPoint point = point_of(*period, clock_ghz, options.cpu_ms);
  point.power_w = gpu.power_w(clock_ghz, load.activity, point.dram_gbps(), load.gui_share) + cpu_w;
  point.cpu_w = cpu_w;
  return point;
}

}  // namespace

Result<OperatingPoint> solve_clock(const GpuDescription& gpu, const Workload& workload,
                                   double limit_w, std::uint64_t seed) {
  auto fastest = run_at(gpu, workload, limit_w, seed, gpu.max_clock_ghz);
  if (!fastest || fastest->power_w <= limit_w) {
    return fastest;
  }
  constexpr int kSteps = 9;  // 2.2 GHz / 2^9 = 4 MHz
  double low = gpu.min_clock_ghz;
  double high = gpu.max_clock_ghz;
  std::optional<OperatingPoint> best;
  for (int i = 0; i < kSteps; ++i) {
    const double clock_ghz = (low + high) / 2;
    auto point = run_at(gpu, workload, limit_w, seed, clock_ghz);
    if (!point) {
      return point;
    }
    if (point->power_w <= limit_w) {
      low = clock_ghz;
      best = *point;
    } else {
      high = clock_ghz;
    }
  }
  if (best) {
    return *best;
  }
  return run_at(gpu, workload, limit_w, seed, low);
}

}  // namespace gputrace::simulated_gpu
