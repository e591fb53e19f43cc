// The two tables of `bench local`, measured in one loop of points.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "kernels/bench/bench_test.h"
#include "kernels/bench/tests/local/local_cases.h"
#include "kernels/bench/tests/point_loop.h"
#include "kernels/bench/tests/random_cycle.h"

namespace gputrace::bench {

/// GB/s by stride, a series for each width.
class LocalBandwidth {
 public:
  explicit LocalBandwidth(TestContext& context);
  /// As for_each_point()'s.
  [[nodiscard]] const std::vector<unsigned>& ranks() const { return ranks_; }
  [[nodiscard]] Status measure(std::size_t index, const MeasurementOptions& options);
  [[nodiscard]] analysis::TestResult result(const PointLoop& loop);

 private:
  TestContext& context_;
  std::vector<LocalRead> reads_;
  std::vector<analysis::BenchPoint> points_;
  std::vector<unsigned> ranks_;
  analysis::TestResult test_;
};

/// Groups in flight by bytes that each takes of local memory.
class LocalAllocation {
 public:
  explicit LocalAllocation(TestContext& context);
  [[nodiscard]] const std::vector<unsigned>& ranks() const { return ranks_; }
  [[nodiscard]] Status measure(std::size_t index, const MeasurementOptions& options);
  [[nodiscard]] analysis::TestResult result(const PointLoop& loop);

 private:
  TestContext& context_;
  std::vector<std::uint32_t> sizes_;
  std::vector<analysis::BenchPoint> points_;
  std::vector<unsigned> ranks_;
  std::shared_ptr<const RandomCycle> cycle_;
  analysis::TestResult test_;
};

/// Bytes to allocate, ascending: powers of two from 1 KiB, one byte more, five eighths and three
/// quarters of each, up to what a group may take.
[[nodiscard]] std::vector<std::uint32_t> allocation_sizes(const vulkan::DeviceFacts& facts);

}  // namespace gputrace::bench
