// The clock that a workload runs at: the highest one whose power stays within the limit.
#pragma once

#include "daemon/simulated_gpu/period.h"

namespace gputrace::simulated_gpu {

/// Throughput and power of a workload in steady state.
struct OperatingPoint {
  double clock_ghz = 0;
  double power_w = 0;    ///< GPU and CPU
  double cpu_w = 0;      ///< the CPU's part of it
  double cpu_ms = 0;     ///< a frame, after the CPU got its share of the power
  double length_ns = 0;  ///< of a period
  double gpu_ns = 0;
  WorkDone work;  ///< of a period

  [[nodiscard]] double dram_gbps() const {
    return (work.dram_read_bytes + work.dram_written_bytes) / length_ns;
  }
};

/// The clock is between the GPU's least and greatest; each step of the bisection is a short run of
/// the network, so that throughput and power agree. At the least clock the limit may be exceeded.
[[nodiscard]] Result<OperatingPoint> solve_clock(const GpuDescription& gpu,
                                                 const Workload& workload, double limit_w,
                                                 std::uint64_t seed);

}  // namespace gputrace::simulated_gpu
