#include "kernels/bench/rate_check.h"

#include <fmt/format.h>

#include <algorithm>

namespace gputrace::bench {

namespace {

/// 0 for what units of their own do, at rates that additions say nothing of.
double instructions_of(Operation operation) {
  switch (operation) {
    case Operation::kFmaF16:
    case Operation::kAddF16:
    case Operation::kMulF16:
    case Operation::kMulI16:
    case Operation::kAddI16:
      return 0.5;  // the formula counts both halves
    case Operation::kSample:
    case Operation::kExport:
    case Operation::kMatrix:
      return 0;
    default:
      return 1;
  }
}

}  // namespace

std::optional<double> lane_operations_per_ns(const KernelCase& kernel, const Launch& launch,
                                             double run_ns) {
  double most = 0;
  for (const OperationCount& count : kernel.formula) {
    most = std::max(
        most, instructions_of(count.operation) * (count.per_trip * launch.trips + count.once));
  }
  if (!(most > 0) || !(run_ns > 0)) {
    return std::nullopt;
  }
  return most * threads_of(kernel, launch) * launch.repeats / run_ns;
}

RateCheck check_rate(const KernelCase& kernel, const Launch& launch, double run_ns,
                     std::optional<double> reference_per_ns) {
  const auto rate = lane_operations_per_ns(kernel, launch, run_ns);
  if (!rate) {
    return {
        .proof = analysis::Proof::kNotDone,
        .why = fmt::format("{}: its work is of a kind that additions are no bound for", kernel.id)};
  }
  if (!reference_per_ns) {
    return {.proof = analysis::Proof::kNotDone, .why = "no rate of fp32 additions to compare with"};
  }
  if (*rate > *reference_per_ns * kRateMargin) {
    return {.proof = analysis::Proof::kFailed,
            .why = fmt::format("{}: {:.4g} Gop/s, more than the device's {:.4g} Gop/s of fp32 "
                               "additions: a part of the work did not run",
                               kernel.id, *rate, *reference_per_ns)};
  }
  return {.proof = analysis::Proof::kPassed, .why = {}};
}

}  // namespace gputrace::bench
