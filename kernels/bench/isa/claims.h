// Compares what a kernel claims with what was counted in its code.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <vector>

#include "cli/analysis/bench_result.h"
#include "kernels/bench/isa/tally.h"
#include "kernels/bench/kernel_case.h"

namespace gputrace::bench::isa {

struct Comparison {
  /// The loop that the formula's trips are of; absent for a formula without any, or when no loop
  /// has its operations.
  std::optional<std::size_t> loop;
  std::vector<analysis::CountCheck> counts;  ///< of the formula; "... once" for outside of the loop
  std::vector<std::string> failures;         ///< empty: everything agrees
};

/// Exact, by these rules:
/// - The operations of a trip lie in one loop; none of a formula's lies in another.
/// - A class that the formula names has its count in the loop (or more, where it says at_least),
///   and its count outside of all loops. Scalar loads and additions of int32 are counted in the
///   loop only: outside they are the driver's (descriptors, addresses).
/// - For a formula with products and sums of fp32, and no FMAs, an unfused multiply-add is both.
/// - FMAs, dot products, matrix instructions and transfers of classes that it does not name may not
///   be in the loop, unless under a condition. Additions and multiplications may.
/// - What it names runs for every thread: not behind a branch, not for some lanes.
/// - Without a formula, what KernelCase::in_loops names is somewhere in a loop.
/// - FLOPs and bytes claimed are what the formula's counts amount to, where they can be: not for
///   integers, matrices, fetches, atomics and what goes through the scalar cache.
[[nodiscard]] Comparison compare_claims(const KernelCase& kernel, const Tallies& tallies,
                                        const ControlFlow& flow);

}  // namespace gputrace::bench::isa
