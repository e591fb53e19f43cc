// A test of the bench: cases of one kind, measured and read. The list of all of them.
#pragma once

#include <optional>
#include <string_view>
#include <vector>

#include "cli/analysis/bench_result.h"
#include "kernels/bench/kernel_case.h"
#include "kernels/bench/measurement.h"
#include "kernels/bench/runner.h"

namespace gputrace::bench {

struct TestContext {
  Runner& runner;
  PointObserver* observer = nullptr;
  MeasurementOptions options;  ///< run length and samples of --quick or of a full run
  bool quick = false;
  /// Of an earlier test on this device, in place of measuring fp32 additions again.
  std::optional<double> additions_per_ns = std::nullopt;
  /// Those of this run before this test; null = none.
  const std::vector<analysis::TestResult>* earlier = nullptr;
};

struct BenchTest {
  std::string_view id;       ///< "fill"
  std::string_view summary;  ///< one line
  std::string_view needs;    ///< "buffer addresses"; empty = nothing
  /// Its share of a run on a GPU; a software rasteriser gets twice as much. Past it a test leaves
  /// out the points that make its axes denser, and says so.
  double quick_s = 0;
  double full_s = 0;
  /// One result for each table that the test prints. A missing feature is a skipped result, a lost
  /// device a failed one; the caller reopens the runner.
  std::vector<analysis::TestResult> (*run)(TestContext& context);
  /// Every case that it may run on a device with these facts, for the ISA check.
  std::vector<KernelCase> (*cases)(const vulkan::DeviceFacts& facts);
};

/// Of `gputrace bench`, in the order of its list; the roofline is a command of its own.
[[nodiscard]] const std::vector<BenchTest>& bench_tests();
/// Those of the roofline, of all bench_tests(), and of calibration and validation.
[[nodiscard]] std::vector<KernelCase> all_cases(const vulkan::DeviceFacts& facts);

}  // namespace gputrace::bench
