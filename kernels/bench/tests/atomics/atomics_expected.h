// What the words of an atomics kernel hold when every operation of every lane was done once.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "kernels/bench/tests/atomics/atomics_cases.h"

namespace gputrace::bench {

/// Added to the first operation of a trip; odd, so that lost operations show in the lowest bit too.
inline constexpr std::uint32_t kAtomicValue = 0x51;
/// Of local memory, a group.
inline constexpr std::uint32_t kLocalWords = 4096;

struct AtomicRun {
  std::string id;
  bool local = false;
  bool is_float = false;  ///< additions of 1.0
  AtomicOperation operation = AtomicOperation::kAdd;
  std::uint32_t word_bytes = 4;
  std::uint64_t words = 0;           ///< of the buffer, or kLocalWords
  std::vector<std::uint32_t> table;  ///< the word of thread t is table[t % size]
};

/// Buffers: words, what the lanes got back, the table; with local memory a fourth: what each lane
/// read of its own group's words at the end.
[[nodiscard]] Status check_atomics(const AtomicRun& run, const Launch& launch,
                                   const Outputs& outputs);

}  // namespace gputrace::bench
