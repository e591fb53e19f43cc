// What the accumulators of alu.glsl become, computed on the CPU.
#pragma once

#include <cstdint>
#include <functional>
#include <span>
#include <string>

#include "daemon/base/result.h"
#include "kernels/bench/cases/alu_case.h"
#include "kernels/bench/kernel_case.h"

namespace gputrace::bench {

inline constexpr std::uint32_t kAluResultGroups = 64;

/// How a case's numbers lie in memory.
struct AluLayout {
  std::uint32_t pairs = 8;
  std::uint32_t rounds = 10;     ///< a trip
  std::uint32_t word_bytes = 4;  ///< of one accumulator
  std::uint32_t halves = 1;      ///< numbers in a word: 2 where packed
  std::uint32_t group_threads = 0;

  [[nodiscard]] std::uint64_t thread_bytes() const { return std::uint64_t{2} * pairs * word_bytes; }
};

[[nodiscard]] AluLayout layout_of(const AluShape& shape);

/// The start of every thread of a group, for BufferNeed::fill.
[[nodiscard]] std::function<void(std::span<std::byte>)> alu_start(const AluShape& shape,
                                                                  const AluLayout& layout);
/// The two constants of the steps as they lie in push constants, from byte 8 and from byte 16.
void write_alu_constants(const AluShape& shape, vulkan::PushConstants& push);

/// Integers to the last bit. Floats to the last bit of one of the ways in which devices round, the
/// same for all numbers; else within what rounding alone adds up to, as long as that tells the
/// launch's trips from one more or less. Functions within the error that Vulkan allows. `rounding`
/// gets the name of the way.
[[nodiscard]] Status check_alu(const std::string& id, const AluShape& shape,
                               const AluLayout& layout, const Launch& launch,
                               const Outputs& outputs, std::string& rounding);

}  // namespace gputrace::bench
