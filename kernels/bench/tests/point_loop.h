// The order in which a test measures its points.
#pragma once

#include <cstddef>
#include <functional>
#include <optional>

#include "cli/analysis/bench_result.h"
#include "daemon/base/result.h"
#include "kernels/bench/measurement.h"

namespace gputrace::bench {

/// Calls `measure_point` with each index below `count`, in shuffled order so that drift is not read
/// as a trend, and tells the progress of them all. Ends early when cancelled, and with the first
/// error that says that the device was lost, which it returns; all other errors are the caller's.
[[nodiscard]] std::optional<Error> for_each_point(
    const MeasurementOptions& options, std::size_t count,
    const std::function<std::optional<Error>(std::size_t index, const MeasurementOptions& options)>&
        measure_point);

/// Takes out the points that were never measured, and sets the test's status; `lost` as returned by
/// for_each_point().
void finish_test(analysis::TestResult& test, const std::optional<Error>& lost);

}  // namespace gputrace::bench
