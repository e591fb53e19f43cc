// The memory between which copies are measured, and the proof that they came through.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <span>
#include <string>
#include <vector>

#include "kernels/bench/bench_test.h"
#include "kernels/vulkan/device.h"
#include "kernels/vulkan/work.h"

namespace gputrace::bench {

/// No copy of a test is as long.
inline constexpr std::int64_t kCopyTimeoutNs = 30'000'000'000;

/// A buffer of a kind that the CPU sees.
struct MappedBuffer {
  vulkan::MemoryKind kind;
  vulkan::Buffer buffer;
};

struct CopyBuffers {
  std::vector<MappedBuffer> mapped;  ///< one for each kind that the CPU sees
  std::size_t host = 0;              ///< of these, the end of copy commands that is the host's
  vulkan::Buffer device;             ///< the other end
  vulkan::Buffer witness;            ///< through which what lies elsewhere is written and read
  std::vector<std::byte> plain;      ///< memory of the process alone
  std::uint64_t bytes = 0;           ///< of each
  std::string note;                  ///< what was made smaller, and why

  /// Of `bytes` each. kNoSpace, and kUnsupported where the CPU sees no memory of the device.
  [[nodiscard]] static Result<CopyBuffers> create(vulkan::Device& gpu, std::uint64_t bytes);

  /// The GPU copies between the witness and another buffer.
  [[nodiscard]] Status put(vulkan::Device& gpu, const vulkan::Buffer& to,
                           std::uint64_t count) const;
  [[nodiscard]] Status get(vulkan::Device& gpu, const vulkan::Buffer& from,
                           std::uint64_t count) const;
};

/// As `make` makes them, of `bytes` or of the largest half of it that there is memory for.
[[nodiscard]] Result<CopyBuffers> create_where_it_fits(
    std::uint64_t bytes, const std::function<Result<CopyBuffers>(std::uint64_t bytes)>& make);

}  // namespace gputrace::bench
