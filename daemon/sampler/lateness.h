// The histogram of SamplingTotals::lateness: which bucket a late read belongs to, and what the
// histogram says about a quantile.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>

namespace gputrace::sampler {

/// The bucket for a read that began `late_ns` after its instant; early (a clock that was set by
/// hand) counts as 0.
[[nodiscard]] std::size_t lateness_bucket(std::int64_t late_ns) noexcept;

/// Inclusive lower end of a bucket, in microseconds.
[[nodiscard]] double lateness_bucket_start_us(std::size_t bucket) noexcept;

/// The `q` quantile (0 to 1) in microseconds, placed inside its bucket by the share of the bucket's
/// reads below it on a logarithmic scale: never more than a quarter octave (19 %) off. The last
/// bucket has no end, so there it is a lower bound. Absent when the histogram is empty.
[[nodiscard]] std::optional<double> lateness_quantile_us(std::span<const std::uint32_t> histogram,
                                                         double q);

}  // namespace gputrace::sampler
