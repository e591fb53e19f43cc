// The proof of the rate: no kernel can run more operations a second than a thread can add numbers.
// One that seems to has lost a part of its work on the way through the compiler.
#pragma once

#include <optional>
#include <string>

#include "cli/analysis/bench_result.h"
#include "kernels/bench/kernel_case.h"

namespace gputrace::bench {

/// What timer noise and turbo clocks may add to a rate above the reference.
inline constexpr double kRateMargin = 1.1;

struct RateCheck {
  analysis::Proof proof = analysis::Proof::kNotDone;
  std::string why;  ///< why it failed or was not done, naming both rates
};

/// Operations of the kernel's busiest class, a nanosecond, all threads together, as the
/// instructions of a lane: a packed one counts once. Absent for a formula without such a class.
[[nodiscard]] std::optional<double> lane_operations_per_ns(const KernelCase& kernel,
                                                           const Launch& launch, double run_ns);

/// `reference_per_ns`: lane_operations_per_ns() of fp32 additions or FMAs on this device, whichever
/// is faster. Absent = not done.
[[nodiscard]] RateCheck check_rate(const KernelCase& kernel, const Launch& launch, double run_ns,
                                   std::optional<double> reference_per_ns);

}  // namespace gputrace::bench
