#include "daemon/sampler/lateness.h"

#include <algorithm>
#include <cmath>

#include "daemon/sampler/sample_block.h"

namespace gputrace::sampler {

namespace {
constexpr double kBucketsPerOctave = 4;
}

std::size_t lateness_bucket(std::int64_t late_ns) noexcept {
  if (late_ns < 1000) {
    return 0;
  }
  const double octaves = std::log2(static_cast<double>(late_ns) / 1000);
  const auto bucket = static_cast<std::size_t>(kBucketsPerOctave * octaves) + 1;
  return std::min(bucket, kLatenessBuckets - 1);
}

double lateness_bucket_start_us(std::size_t bucket) noexcept {
  return bucket == 0 ? 0 : std::exp2(static_cast<double>(bucket - 1) / kBucketsPerOctave);
}

std::optional<double> lateness_quantile_us(std::span<const std::uint32_t> histogram, double q) {
  std::uint64_t total = 0;
  for (const std::uint32_t count : histogram) {
    total += count;
  }
  if (total == 0) {
    return std::nullopt;
  }
  const double rank = std::clamp(q, 0.0, 1.0) * static_cast<double>(total);
  double below = 0;
  std::size_t bucket = 0;
  while (below + histogram[bucket] < rank || histogram[bucket] == 0) {
    below += histogram[bucket];
    ++bucket;
  }
  const double share = (rank - below) / histogram[bucket];
  const double start = lateness_bucket_start_us(bucket);
  if (bucket == 0) {
    return share;
  }
  if (bucket + 1 == histogram.size()) {
    return start;
  }
  return start * std::exp2(share / kBucketsPerOctave);
}

}  // namespace gputrace::sampler
