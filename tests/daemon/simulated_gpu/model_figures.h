// Figures of the model in the units of the tables that were published for the 780M, for the tests
// that compare them.
#pragma once

#include <span>

#include "daemon/simulated_gpu/kernels.h"
#include "daemon/simulated_gpu/steady_signal.h"

namespace gputrace::test {

/// Throughput while the GPU works: the pauses between dispatches are the host's.
[[nodiscard]] double gflops(const simulated_gpu::OperatingPoint& point);
[[nodiscard]] double gtexels(const simulated_gpu::OperatingPoint& point, int fetches);
[[nodiscard]] double gpixels(const simulated_gpu::OperatingPoint& point);
[[nodiscard]] double gbps(const simulated_gpu::OperatingPoint& point);
/// Steady state temperature: 34.75 + 0.55 P, fitted to the published rows of 15 to 35 W.
[[nodiscard]] double celsius(const simulated_gpu::OperatingPoint& point);

[[nodiscard]] simulated_gpu::OperatingPoint solve(const simulated_gpu::GpuDescription& gpu,
                                                  const simulated_gpu::Workload& workload,
                                                  double limit_w);
[[nodiscard]] simulated_gpu::SteadySignal build(const simulated_gpu::GpuDescription& gpu,
                                                const simulated_gpu::Workload& workload,
                                                double limit_w, int variants);
/// Over all variants, in percent.
[[nodiscard]] double busy_percent(const simulated_gpu::SteadySignal& signal,
                                  simulated_gpu::Unit unit);

struct PublishedBusy {
  simulated_gpu::Unit unit;
  double published;  ///< percent
  double error;      ///< of the model, in points, as it stands: a regression moves it
};
/// CHECKs that the model's busy percentages (mean over the signals) are off by the stated errors.
void check_busy(std::span<const simulated_gpu::SteadySignal> signals,
                std::span<const PublishedBusy> rows);

}  // namespace gputrace::test
