// What the roofline's cases share: their data, how it lies in buffers, and what marks say of them.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "daemon/base/result.h"
#include "kernels/bench/kernel_case.h"
#include "kernels/bench/stimulus.h"
#include "kernels/vulkan/device.h"

namespace gputrace::bench {

/// Contents of buffers: words that differ from their neighbours in every bit.
[[nodiscard]] constexpr std::uint32_t pattern_word(std::uint64_t index) {
  return static_cast<std::uint32_t>(index) * 0x9E3779B1U;
}
/// In [0.5, 1.5).
[[nodiscard]] constexpr float pattern_float(std::uint64_t index) {
  return 0.5F + static_cast<float>(pattern_word(index) >> 8U) * 0x1p-24F;
}

void fill_with_words(std::span<std::byte> buffer);
void fill_with_floats(std::span<std::byte> buffer);

template <class T>
[[nodiscard]] T read_at(std::span<const std::byte> bytes, std::uint64_t index) {
  GPUTRACE_CHECK((index + 1) * sizeof(T) <= bytes.size());
  T value{};
  std::memcpy(&value, &bytes[index * sizeof(T)], sizeof(T));
  return value;
}

template <class T>
void write_at(std::span<std::byte> bytes, std::uint64_t index, T value) {
  GPUTRACE_CHECK((index + 1) * sizeof(T) <= bytes.size());
  std::memcpy(&bytes[index * sizeof(T)], &value, sizeof(T));
}

/// `wanted` numbers below `count` (all, if there are fewer), the first and the last among them.
[[nodiscard]] std::vector<std::uint64_t> sample_of(std::uint64_t count, std::uint64_t wanted);

/// Threads of a group that suit memory: a software rasteriser takes one vector of lanes through the
/// whole shader before the next, so that only a group of one vector reads in order.
[[nodiscard]] std::uint32_t memory_group_threads(const vulkan::DeviceFacts& facts);

/// ".g64" of a size that was asked for; empty for memory_group_threads().
[[nodiscard]] std::string group_suffix(const std::optional<std::uint32_t>& group_threads);

/// Groups of `bytes` and `flops` each that a dispatch has: `most_bytes` together, within the
/// device's limits, and little enough arithmetic to take milliseconds. What is in the way then is
/// arithmetic, however much memory is behind.
[[nodiscard]] std::uint32_t stream_groups(const vulkan::DeviceFacts& facts,
                                          std::uint64_t most_bytes, double bytes, double flops);

/// How a kernel uses memory.
struct MemoryUseOfKernel {
  Access access = Access::kNone;
  double footprint_bytes = 0;
  bool step_each_trip = false;  ///< else one dependent step a thread
  /// Stores go to a few places again and again: none of them reaches memory.
  bool stores_stay_in_cache = false;
  std::uint32_t waves_per_simd = 0;  ///< of 64, that RADV's registers on RDNA allow; 0 = all
};

/// For KernelCase::stimulus. The case's formula must be complete.
[[nodiscard]] std::function<Stimulus(const Launch&)> stimulus_of(const KernelCase& kernel,
                                                                 Arithmetic arithmetic,
                                                                 const MemoryUseOfKernel& memory);

}  // namespace gputrace::bench
