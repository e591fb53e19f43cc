// The fast loop: one sample per period, at a random instant inside it.
#pragma once

#include <cstdint>
#include <stop_token>

#include "daemon/base/time.h"
#include "daemon/sampler/block_queue.h"
#include "daemon/sampler/register_reader.h"

namespace gputrace::sampler {

inline constexpr double kMinRateHz = 1;
inline constexpr double kMaxRateHz = 20'000;
inline constexpr double kDefaultRateHz = 1'000;

struct SamplingOptions {
  double rate_hz = kDefaultRateHz;
  std::uint64_t seed = 1;  ///< of the instants
  std::int64_t block_ns = kNsPerSecond;
};

/// Ticks that a block must be able to hold for these options (one more than fit, for rounding).
[[nodiscard]] std::size_t block_capacity(const SamplingOptions& options);

/// Period k is [start + k P, start + (k+1) P). The read is due at start + (k + u) P, u uniform in
/// [0,1): stratified sampling, which cannot beat with frames (SAMPLING.md 4). A period that has
/// ended before its read began is missed and counted; a late read inside its period is kept.
class SamplingLoop {
 public:
  SamplingLoop(RegisterReader& reader, BlockQueue& queue, Clock& clock, SamplingOptions options);

  /// Samples until `stop` is requested or the reader offers nothing more; submits the block in
  /// hand, closes the queue. Allocates only when a segment begins. The caller sets the thread's
  /// scheduling.
  void run(const std::stop_token& stop);

 private:
  RegisterReader& reader_;
  BlockQueue& queue_;
  Clock& clock_;
  SamplingOptions options_;
};

}  // namespace gputrace::sampler
