// `latency.hops`: each hop of a chase timed by the GPU's own clock. Levels of caches are peaks.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "cli/analysis/bench_result.h"
#include "kernels/bench/bench_test.h"
#include "kernels/bench/tests/latency/chase_point.h"

namespace gputrace::bench {

/// Of the last hops of a run.
inline constexpr std::uint32_t kKeptHops = 4096;

/// Clocks from hop to hop.
struct HopTimes {
  std::vector<std::uint32_t> clocks;
  std::uint32_t counter_bits = 0;  ///< after which the clock was seen to wrap; 0 = it did not
  std::size_t dropped = 0;         ///< hops over which the clock went back: another core's clock
};

/// Of readings of a counter behind one hop after the other. How many of its bits count is not known
/// (20 on RDNA 2 and 3, of 32 that are read): where it falls from the last quarter of a power of
/// two to the first, it wrapped at that power.
[[nodiscard]] HopTimes hop_times(std::span<const std::uint32_t> readings);

/// A bin of clocks: from `first` to before `end`.
struct HopBin {
  std::uint64_t first = 0;
  std::uint64_t end = 0;
  std::uint64_t hops = 0;
};

/// Eight bins an octave, fewer where a clock is more; from the first to the last with at least one
/// of 2,000 hops, those between that have fewer among them.
[[nodiscard]] std::vector<HopBin> hop_bins(std::span<const std::uint32_t> clocks);

/// What the runs of a hop case have left.
struct HopLog {
  std::uint64_t walked = 0;             ///< hops so far: the next run goes on from there
  std::vector<std::uint32_t> readings;  ///< of the last run, in order
};

/// One lane of the vector path; its check logs the readings. Needs buffer addresses and the clock.
[[nodiscard]] KernelCase hop_case(const ChaseTrack& track, const std::shared_ptr<HopLog>& log);

/// One working set.
struct HopPoint {
  std::shared_ptr<HopLog> log;
  ChasePoint chase;  ///< its kernel is the hop case
  std::string series;
  analysis::TestStatus status = analysis::TestStatus::kOk;
  std::string why = {};
  HopTimes times = {};
  bool is_done = false;
};

[[nodiscard]] HopPoint hop_point(const vulkan::DeviceFacts& facts, const ChaseTrack& track);

/// What the device lacks, in words; empty = nothing.
[[nodiscard]] std::string missing_for_hops(const Runner& runner);

/// Runs it until there are `hops`, or until it is cancelled.
[[nodiscard]] std::optional<Error> measure_hops(TestContext& context,
                                                const MeasurementOptions& options, std::size_t hops,
                                                HopPoint& point, analysis::TestResult& test);

/// Histograms as series, medians as derived values. Suspect where the clock does not tell a set in
/// the nearest cache from one far larger: it was read before the data had come.
void enter_hops(const std::vector<HopPoint>& points, analysis::TestResult& test);

}  // namespace gputrace::bench
