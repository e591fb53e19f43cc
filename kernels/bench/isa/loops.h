// Finds the loops of a listing, and what in them does not run for every thread in every trip.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <vector>

#include "daemon/base/result.h"
#include "kernels/bench/isa/listing.h"

namespace gputrace::bench::isa {

/// From the target of a backward branch to that branch; several branches to one target are one
/// loop.
struct Loop {
  std::size_t first = 0;  ///< index of an instruction
  std::size_t last = 0;   ///< the branch
  std::optional<std::size_t> parent;
  std::string name;  ///< "BB1"
};

struct ControlFlow {
  std::vector<Loop> loops;  ///< in the order of the code; a loop comes before those inside it
  /// For each instruction the innermost loop that it lies in.
  std::vector<std::optional<std::size_t>> loop_of;
  /// For each instruction: within its innermost loop a branch skips it, or the mask of active lanes
  /// has been narrowed before.
  std::vector<bool> conditional;
};

/// kCorrupt: a branch leads to no instruction, or text and encoding disagree about its target.
/// kUnsupported: a jump that cannot be followed, loops that cross each other.
[[nodiscard]] Result<ControlFlow> find_loops(const Listing& listing);

}  // namespace gputrace::bench::isa
