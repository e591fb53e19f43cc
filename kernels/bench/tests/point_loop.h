// The order in which a test measures its points.
#pragma once

#include <cstddef>
#include <functional>
#include <optional>
#include <span>

#include "cli/analysis/bench_result.h"
#include "daemon/base/result.h"
#include "kernels/bench/measurement.h"

namespace gputrace::bench {

struct PointLoop {
  std::optional<Error> lost;  ///< the first error that says that the device was lost
  std::size_t left_out = 0;   ///< points for which the test's share was spent
  std::size_t points = 0;     ///< in all
};

/// Calls `measure_point` with each index of `ranks`: all of rank 0, then those of rank 1, and so
/// on; within a rank in shuffled order, so that drift is not read as a trend. Rank 0 is what the
/// test cannot do without; of a working set the powers of two, say, with the sizes in between
/// behind. Once the test's share is spent (MeasurementOptions::share_end_ns) ranks above 0 are
/// left out. Tells the progress of all points. Ends early when cancelled and when the device is
/// lost; all other errors are the caller's.
[[nodiscard]] PointLoop for_each_point(
    const MeasurementOptions& options, std::span<const unsigned> ranks,
    const std::function<std::optional<Error>(std::size_t index, const MeasurementOptions& options)>&
        measure_point);

/// Of a concluded test. One of which nothing was measured is skipped then.
void say_left_out(analysis::TestResult& test, std::size_t left_out, std::size_t points);

/// Takes out the points that were never measured, says what was left out, and sets the test's
/// status.
void finish_test(analysis::TestResult& test, const PointLoop& loop);

}  // namespace gputrace::bench
