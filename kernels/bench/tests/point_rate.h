// A rate as one point: work a nanosecond, without the launch.
#pragma once

#include <functional>
#include <optional>
#include <string>

#include "cli/analysis/bench_result.h"
#include "kernels/bench/bench_test.h"
#include "kernels/bench/measurement.h"

namespace gputrace::bench {

/// Measures the kernel and enters into `point` how much of `work` (of one submission) it does a
/// nanosecond, and into `test` what the proof of the rate says where a rate of additions is known.
/// Timestamps enclose the work alone; wall times hold the launch too, and a second run of a quarter
/// of the trips is subtracted from them. Cancelled: the point stays without a figure.
[[nodiscard]] Status measure_rate(TestContext& context, const MeasurementOptions& options,
                                  const PlannedPoint& planned,
                                  const std::function<double(const Launch&)>& work,
                                  analysis::BenchPoint& point, analysis::TestResult& test);

/// Appends "NAME: WORK a clock and core" to the test's derived values: the point's rate in 1e9 a
/// second by the clock and the number of cores. Nothing where no sensor told the clock, or no
/// driver the cores.
void derive_per_core(const analysis::BenchPoint& point, std::optional<std::uint32_t> cores,
                     const std::string& name, const std::string& work, std::string unit,
                     analysis::TestResult& test);

}  // namespace gputrace::bench
