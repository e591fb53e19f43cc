#include <algorithm>

#include "kernels/bench/roofline_part.h"

namespace gputrace::bench {

namespace {

/// A software rasteriser has no clocks to wait for, and few cores: dozens of points in seconds.
constexpr double kQuickRunOfCpuNs = 2.5e6;

}  // namespace

RooflineProgress::RooflineProgress(TestContext& test_context, std::size_t points)
    : context(test_context),
      additions_per_ns(test_context.additions_per_ns),
      expected_(static_cast<std::ptrdiff_t>(points)),
      start_ns_(clock().now_ns()) {}

Clock& RooflineProgress::clock() {
  return context.options.clock != nullptr ? *context.options.clock : monotonic_;
}

bool RooflineProgress::cancelled() const {
  return context.options.cancelled && context.options.cancelled();
}

MeasurementOptions RooflineProgress::options() {
  MeasurementOptions options = context.options;
  if (context.quick && context.runner.facts().is_cpu) {
    options.run_ns = std::min(options.run_ns, kQuickRunOfCpuNs);
  }
  if (options.run_ns < least_run_ns) {
    options.run_ns = least_run_ns;
    options.point_limit_ns =
        std::max(options.point_limit_ns, least_run_ns * static_cast<double>(options.samples));
  }
  done_before_ = done_;
  options.progress = [this](std::size_t done, std::size_t, double) {
    done_ = done_before_ + static_cast<std::ptrdiff_t>(done);
    expected_ = std::max(expected_, done_);
    if (context.options.progress) {
      const double spent_s = static_cast<double>(clock().now_ns() - start_ns_) * 1e-9;
      context.options.progress(
          static_cast<std::size_t>(done_), static_cast<std::size_t>(expected_),
          spent_s / static_cast<double>(done_) * static_cast<double>(expected_ - done_));
    }
  };
  return options;
}

}  // namespace gputrace::bench
