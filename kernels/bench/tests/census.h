// Groups that count themselves in, dwell, and count themselves out: how many are in flight at once.
#pragma once

#include <cstdint>

#include "cli/analysis/bench_result.h"
#include "kernels/bench/measurement.h"
#include "kernels/bench/runner.h"
#include "kernels/bench/tests/occupancy/occupancy_cases.h"

namespace gputrace::bench {

/// ns of one submission.
[[nodiscard]] Result<double> time_once(PreparedKernel& kernel, const Launch& launch);

/// Trips of an occupancy_case() with which one group alone dwells long enough: it must still be
/// there when the last one of those that fit has been launched. kUnsupported: it cannot.
[[nodiscard]] Result<std::uint32_t> find_dwell(PreparedKernel& kernel);

/// Launches more and more groups, up to `most`, until some have to wait, then counts a few times.
/// `reading` is that of the kernel's case. The largest count is the point's median: it is exact,
/// and a smaller one is of groups that came late. Cancelled: no figure. kUnsupported: all that may
/// be launched are in flight.
[[nodiscard]] Status take_census(PreparedKernel& kernel, std::uint32_t trips, std::uint32_t most,
                                 const CensusReading& reading, const MeasurementOptions& options,
                                 analysis::BenchPoint& point);

}  // namespace gputrace::bench
