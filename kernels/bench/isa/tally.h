// Counts the operations of a listing, for each loop and for the rest.
#pragma once

#include <array>
#include <cstdint>
#include <string_view>
#include <vector>

#include "kernels/bench/isa/classify.h"
#include "kernels/bench/isa/loops.h"

namespace gputrace::bench::isa {

struct OperationTally {
  std::uint64_t operations = 0;
  std::uint64_t conditional = 0;   ///< of them: not for every thread in every trip
  std::uint64_t instructions = 0;  ///< that they take, each half of a pair one
};

/// What lies directly in one loop, or outside of all.
struct Tally {
  std::array<OperationTally, kOperations> of{};
  /// Vector instructions (arithmetic, memory, local memory, exports), each half of a pair one.
  std::uint64_t vector_instructions = 0;
  std::uint64_t dual_issued_fmas = 0;
  std::uint64_t unfused_fmas = 0;        ///< of fp32: a product that is rounded, and a sum
  std::uint64_t other_transfers = 0;     ///< unconditional ones that no Operation is for
  std::string_view other_transfer_name;  ///< the first of them

  [[nodiscard]] const OperationTally& at(Operation operation) const {
    return of.at(static_cast<std::size_t>(operation));
  }
};

struct Tallies {
  Tally outside;
  std::vector<Tally> loops;  ///< in the order of ControlFlow::loops
  bool has_pairs = false;    ///< anywhere
};

[[nodiscard]] Tallies count_operations(const Listing& listing, const ControlFlow& flow);

}  // namespace gputrace::bench::isa
