// What the parts of the roofline share: kernels that are prepared and proved once, points that are
// measured together in shuffled order, and figures that carry all three proofs.
#pragma once

#include <cstddef>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "cli/analysis/bench_result.h"
#include "kernels/bench/bench_test.h"
#include "kernels/bench/cases/sized_case.h"

namespace gputrace::bench {

/// Work of one submission in units per nanosecond: FLOPs give GFLOPS, bytes GB/s.
using WorkOf = double (*)(const KernelCase& kernel, const Launch& launch);

/// FLOPs, or operations of integers.
[[nodiscard]] double arithmetic_work(const KernelCase& kernel, const Launch& launch);
/// Bytes read and written.
[[nodiscard]] double memory_work(const KernelCase& kernel, const Launch& launch);

/// Buffers, texture and target, in bytes.
[[nodiscard]] std::uint64_t memory_of(const KernelCase& kernel);

struct RooflineKernel {
  SizedCase sized;
  std::uint64_t bytes = 0;  ///< that `smaller` made it with
  /// The same with less memory, for devices that have no more; empty = there is no smaller one.
  std::function<SizedCase(std::uint64_t bytes)> smaller = nullptr;
};

struct RooflinePoint {
  std::size_t kernel = 0;  ///< index into the list of kernels
  /// Absent = those of the kernel's own launch.
  std::optional<std::uint32_t> trips = std::nullopt;
  std::optional<std::uint32_t> groups = std::nullopt;  ///< at most
  std::string label;
  WorkOf work = arithmetic_work;
  std::size_t test = 0;  ///< index into the list of results
  std::string series;
  double x = 0;
  bool x_is_bytes = false;  ///< RooflineKernel::bytes, also of a smaller one, in place of `x`
  /// As of for_each_point(): those of rank 0 are always measured, later ones while the test's share
  /// lasts (MeasurementOptions::share_end_ns).
  unsigned rank = 0;
};

/// State of one roofline: how far it is, and what later parts need of earlier ones.
class RooflineProgress {
 public:
  RooflineProgress(TestContext& context, std::size_t points);

  /// A share is given and spent.
  [[nodiscard]] bool share_is_spent();
  /// Options whose progress counts all points of the roofline.
  [[nodiscard]] MeasurementOptions options();
  /// Points that will not come, or are more than expected.
  void expect(std::ptrdiff_t more) { expected_ += more; }
  [[nodiscard]] bool cancelled() const;

  TestContext& context;
  /// Of fp32 additions, measured again with every part: what the rates of all others are held
  /// against, and a witness of clocks that change on the way.
  analysis::TestResult additions;
  std::optional<double> additions_per_ns;  ///< the fastest so far
  /// Of a run, in place of a shorter one of the options: for kernels whose threads begin and end
  /// with much that is not measured.
  double least_run_ns = 0;
  /// Set when the device was lost and could not be opened again.
  std::optional<Error> lost;

 private:
  Clock& clock();

  MonotonicClock monotonic_;
  std::ptrdiff_t expected_ = 0;
  std::ptrdiff_t done_before_ = 0;
  std::ptrdiff_t done_ = 0;
  std::int64_t start_ns_ = 0;
};

/// Prepares and proves the kernels, and one of additions with them (none on a simulated GPU), in
/// shuffled order and as many at a time as memory is for, measures the points on them, and appends
/// each to its series in its test, in the order given. A kernel that cannot run makes its points
/// skipped or failed; where memory is short a smaller one takes its place, and says so. After a
/// lost device it is opened again for the parts that follow. Tests are not concluded. Returned: how
/// many points of each test were left out since the share was spent.
std::vector<std::size_t> measure_points(RooflineProgress& progress,
                                        std::vector<RooflineKernel> kernels,
                                        const std::vector<RooflinePoint>& points,
                                        std::vector<analysis::TestResult>& tests);

/// A ceiling from a measured point: its median, p5 and p95.
[[nodiscard]] analysis::DerivedValue ceiling_of(const analysis::BenchPoint& point, std::string what,
                                                std::string unit, std::string by);

/// The point with the highest median among those that may be published; null without one.
[[nodiscard]] const analysis::BenchPoint* best_point(const analysis::TestResult& test);

}  // namespace gputrace::bench
