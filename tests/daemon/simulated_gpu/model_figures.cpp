#include "tests/daemon/simulated_gpu/model_figures.h"

#include <doctest/doctest.h>

#include <cmath>

#include "tests/support/error_text.h"

namespace gputrace::test {

using namespace simulated_gpu;

double gflops(const OperatingPoint& point) {
  return point.work.flops / point.gpu_ns;
}
double gtexels(const OperatingPoint& point, int fetches) {
  return gpixels(point) * fetches;
}
double gpixels(const OperatingPoint& point) {
  return point.work.threads / point.gpu_ns;
}
double gbps(const OperatingPoint& point) {
  return (point.work.dram_read_bytes + point.work.dram_written_bytes) / point.gpu_ns;
}
double celsius(const OperatingPoint& point) {
  return 34.75 + 0.55 * point.power_w;
}

OperatingPoint solve(const GpuDescription& gpu, const Workload& workload, double limit_w) {
  const auto point = solve_clock(gpu, workload, limit_w, 1);
  REQUIRE_MESSAGE(point.has_value(), error_text(point));
  return *point;
}

SteadySignal build(const GpuDescription& gpu, const Workload& workload, double limit_w,
                   int variants) {
  auto signal = SteadySignal::build(gpu, workload,
                                    {.power_limit_w = limit_w, .seed = 1, .variants = variants});
  REQUIRE_MESSAGE(signal.has_value(), error_text(signal));
  return std::move(*signal);
}

double busy_percent(const SteadySignal& signal, Unit unit) {
  std::uint64_t busy = 0;
  for (const Tape& tape : signal.variants()) {
    busy += tape.busy_ns(tape.length_ns(), unit);
  }
  return 100 * static_cast<double>(busy) / static_cast<double>(signal.superblock_ns());
}

void check_busy(std::span<const SteadySignal> signals, std::span<const PublishedBusy> rows) {
  // The stated errors are rounded to a point; other seeds move the model by 0.2.
  constexpr double kTolerance = 0.8;
  for (const PublishedBusy& row : rows) {
    double busy = 0;
    for (const SteadySignal& signal : signals) {
      busy += busy_percent(signal, row.unit) / static_cast<double>(signals.size());
    }
    CAPTURE(index_of(row.unit));
    CAPTURE(busy);
    CHECK(std::abs(busy - row.published - row.error) <= kTolerance);
  }
}

}  // namespace gputrace::test
