// Sampling in bursts: when it is on and when it rests.
#pragma once

#include <cstdint>

namespace gputrace::sampler {

/// The first `length_ns` of every `every_ns` of CLOCK_MONOTONIC itself, so that loops of different
/// beginnings and rates agree on the windows. 0 < length_ns <= every_ns.
struct Burst {
  std::int64_t length_ns = 0;
  std::int64_t every_ns = 0;

  bool operator==(const Burst&) const = default;

  /// The start of the window that holds `time_ns`, else of the next one.
  [[nodiscard]] constexpr std::int64_t window_from(std::int64_t time_ns) const noexcept {
    const std::int64_t start_ns = time_ns / every_ns * every_ns;
    return time_ns < start_ns + length_ns ? start_ns : start_ns + every_ns;
  }
};

}  // namespace gputrace::sampler
