// Kernels whose loop is a straight line of a given number of operations.
#pragma once

#include <cstdint>
#include <vector>

namespace gputrace::bench {

enum class StraightOperation {
  kAdd,  ///< p -= q, then q += p: 4 bytes each on GCN and RDNA
  kFma,  ///< p = p * a + q, then q = q * b + p: 8 bytes, as no addend may be overwritten
};

struct StraightShape {
  StraightOperation operation = StraightOperation::kAdd;
  std::uint32_t operations = 1024;  ///< in the loop; a multiple of 2 * chains
  std::uint32_t chains = 1;         ///< pairs of accumulators that do not wait for each other
  std::uint32_t group_threads = 64;
};

/// SPIR-V of: binding 0 gets, for thread i of a group, p and q of each chain from float
/// [2 * chains * i] on; push constants are trips (uint), a and b (float). Chain k begins with
/// p = i + 2 k + 1 and q = i + 2 k + 2. Additions are marked as not to be joined (NoContraction):
/// else q + (p - q) were p.
[[nodiscard]] std::vector<std::uint32_t> straight_code(const StraightShape& shape);

}  // namespace gputrace::bench
