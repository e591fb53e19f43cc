// 95 % intervals of busy fractions from counts alone. Samples of a busy bit are correlated, so an
// interval needs the number of changes beside hits and samples. There are two questions: what a
// repeat of the same steady load would show (ci95), and the error about this very recording
// (ci95_run), whose random instants are stratified and which is therefore known far better.
#pragma once

#include <cstdint>
#include <optional>
#include <span>

namespace gputrace::analysis {

/// What a stretch of samples says of one bit. Asleep and unknown samples are in none of the three.
struct Counts {
  std::uint64_t samples = 0;  ///< n, valid samples
  std::uint64_t busy = 0;     ///< k, of them with the bit set
  std::uint64_t changes = 0;  ///< T, between neighbouring valid samples
};

/// Counts of a short stretch (100 ms); neighbours in time stand beside each other.
struct Cell {
  std::uint32_t samples = 0;
  std::uint32_t busy = 0;
  std::uint32_t changes = 0;
};

/// Fractions, 0 <= lower <= upper <= 1.
struct Interval {
  double lower = 0;
  double upper = 1;
};

/// Below this an interval would span most of 0 to 1, and coverage was never checked: no interval.
inline constexpr std::uint64_t kMinSamplesForInterval = 10;
/// The sampling error cannot be known from fewer batches than these.
inline constexpr std::size_t kBatches = 30;

/// What a repeat of the same steady load would show. `cells` hold the same samples as `total`, in
/// order of time, each at least 100 ms long; with 3,000 samples, 100 changes and 30 cells the
/// scatter of 30 batch means takes the place of the two-state model, because only that sees that
/// frames repeat. Absent below kMinSamplesForInterval.
[[nodiscard]] std::optional<Interval> ci95(const Counts& total, std::span<const Cell> cells);

/// The error about this recording: the share of its time in which the unit was busy. Holds for
/// one sample at a random instant of each period. Absent below kMinSamplesForInterval.
[[nodiscard]] std::optional<Interval> ci95_run(const Counts& total);

}  // namespace gputrace::analysis
