// What streams through memory must leave behind.
#pragma once

#include <cstdint>
#include <string>

#include "daemon/base/result.h"
#include "kernels/bench/cases/bandwidth.h"
#include "kernels/bench/kernel_case.h"

namespace gputrace::bench {

// bandwidth.glsl
inline constexpr std::uint64_t kVectorBytes = 16;
inline constexpr std::uint64_t kVectorWords = 4;
inline constexpr std::uint32_t kAccesses = 4;  ///< a trip
inline constexpr float kTriadFactor = 0.8137F;

/// Of a trip's accesses, those that read; of a stream that is no mix 0.
[[nodiscard]] std::uint32_t mixed_reads(Stream stream);

/// Which vectors a thread touches: bandwidth.glsl's arithmetic.
struct Walk {
  std::uint32_t group_threads = 0;
  std::uint32_t mask = 0;
  std::uint32_t group_region = 0;
  std::uint32_t group_start = 0;

  [[nodiscard]] std::uint32_t place(std::uint32_t group, std::uint32_t lane,
                                    std::uint32_t trip) const {
    return group * group_start + lane + trip * kAccesses * group_threads;
  }
  [[nodiscard]] std::uint32_t vector(std::uint32_t group, std::uint32_t place,
                                     std::uint32_t access) const {
    return group * group_region + ((place + access * group_threads) & mask);
  }
};

/// A stream in one size.
struct StreamShape {
  std::string id;
  Stream stream = Stream::kRead;
  Walk walk;
  std::uint64_t buffer_bytes = 0;
  bool once = false;  ///< each vector is touched exactly once
};

/// Sums of what was read, in the last buffer; else the places that threads came to, and what they
/// wrote. Buffers are those that the stream needs: from, to, other, sums.
[[nodiscard]] Status check_stream(const StreamShape& shape, const Launch& launch,
                                  const Outputs& outputs);

}  // namespace gputrace::bench
