// Times of what is no kernel: copies by the CPU, and commands that are repeated in a submission.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>

#include "daemon/base/result.h"
#include "daemon/base/time.h"
#include "kernels/bench/measurement.h"
#include "kernels/vulkan/device.h"

namespace gputrace::bench {

struct DirectOptions {
  double run_ns = 2e6;           ///< aimed at for one submission
  double sample_ns = 100e3;      ///< aimed at for the calls that make one sample
  double point_limit_ns = 25e6;  ///< then there are fewer samples, never below kFewestSamples
  std::size_t samples = kMinSamples;
  std::uint32_t most_repeats = 4096;
  std::function<bool()> cancelled = nullptr;
};

/// ns of one call, on `clock`, after one that is not counted. Absent: cancelled.
[[nodiscard]] Result<std::optional<Timing>> time_calls(const DirectOptions& options, Clock& clock,
                                                       const std::function<Status()>& call);

/// ns of one of the repeats of a submission, by its timestamps. Without them by wall time: what
/// four times as many take longer is theirs alone. kCorrupt: too short to be timed.
/// Absent: cancelled.
[[nodiscard]] Result<std::optional<Timing>> time_repeats(
    const DirectOptions& options, Clock& clock,
    const std::function<Result<vulkan::RunTime>(std::uint32_t repeats)>& run);

/// ns from submit to fence, one submission a sample. Absent: cancelled.
[[nodiscard]] Result<std::optional<Timing>> time_submissions(
    const DirectOptions& options, Clock& clock,
    const std::function<Result<vulkan::RunTime>()>& run);

}  // namespace gputrace::bench
