// A kernel made ready for measurement, with the proofs that need no time: its result and its code.
#pragma once

#include <memory>
#include <string>

#include "cli/analysis/bench_result.h"
#include "daemon/base/result.h"
#include "kernels/bench/isa_check.h"
#include "kernels/bench/measurement.h"
#include "kernels/bench/runner.h"

namespace gputrace::bench {

struct ProvenKernel {
  std::unique_ptr<PreparedKernel> kernel;
  analysis::Proof result = analysis::Proof::kNotDone;
  std::string wrong_result;  ///< what of the result is wrong, when `result` failed
  IsaCheck isa;
};

/// Prepares the case, runs `launch` once and compares its result with the CPU's. Errors are what
/// keeps the case from running; a proof that fails is not one: a wrong result makes a point failed,
/// code that does not match the formula makes it suspect. On a simulated GPU nothing executes, and
/// no proof is done.
[[nodiscard]] Result<ProvenKernel> prepare_and_prove(Runner& runner, const KernelCase& kernel,
                                                     const Launch& launch);

/// Of two parts of one test: a failure counts, then a success.
[[nodiscard]] analysis::Proof combine(analysis::Proof a, analysis::Proof b);

/// Enters what the proofs say into a point and into its test: code size, registers, waves, status.
void enter_proofs(const ProvenKernel& proven, analysis::BenchPoint& point,
                  analysis::TestResult& test);
/// Clocks, power, drift, number of samples and when it was; the figures are the test's own.
void enter_timing(const Timing& timing, analysis::BenchPoint& point);
/// kUnsupported and kNoSpace are skipped points, all else failed ones.
void enter_error(const Error& error, analysis::BenchPoint& point);

/// Sets the test's status, reason, start and end from its points: one that is suspect makes the
/// test suspect; without a point that was measured the test is skipped or failed as its points are.
void conclude(analysis::TestResult& test);

}  // namespace gputrace::bench
