#include <algorithm>
#include <utility>

#include "kernels/bench/roofline_part.h"

namespace gputrace::bench {

using analysis::BenchPoint;
using analysis::BenchSeries;
using analysis::TestResult;
using analysis::TestStatus;

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

bool RooflineProgress::share_is_spent() {
  const auto end_ns = context.options.share_end_ns;
  return end_ns && clock().now_ns() >= *end_ns;
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

std::uint64_t memory_of(const KernelCase& kernel) {
  std::uint64_t bytes = 0;
  for (const BufferNeed& need : kernel.buffers) {
    bytes += need.bytes;
  }
  if (kernel.target) {
    bytes += vulkan::bytes_of(kernel.target->format) * kernel.target->width * kernel.target->height;
  }
  if (kernel.texture) {
    const vulkan::TextureDescription& texture = kernel.texture->description;
    bytes += vulkan::bytes_of(texture.format) * texture.width * texture.height;
  }
  return bytes;
}

double arithmetic_work(const KernelCase& kernel, const Launch& launch) {
  return flops_of(kernel, launch);
}

double memory_work(const KernelCase& kernel, const Launch& launch) {
  return read_bytes_of(kernel, launch) + written_bytes_of(kernel, launch);
}

analysis::DerivedValue ceiling_of(const BenchPoint& point, std::string what, std::string unit,
                                  std::string by) {
  analysis::DerivedValue value;
  value.what = std::move(what);
  value.value = point.median.value_or(0);
  value.lower = point.p5;
  value.upper = point.p95;
  value.unit = std::move(unit);
  value.by = std::move(by);
  return value;
}

const BenchPoint* best_point(const TestResult& test) {
  const BenchPoint* best = nullptr;
  double most = 0;
  for (const BenchSeries& series : test.series) {
    for (const BenchPoint& point : series.points) {
      if (point.status == TestStatus::kOk && point.median.value_or(0) > most) {
        best = &point;
        most = point.median.value_or(0);
      }
    }
  }
  return best;
}

}  // namespace gputrace::bench
