// What the rates of a type say beside themselves: its peak, what fma() costs, how it rounds.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "cli/analysis/bench_result.h"
#include "kernels/bench/cases/alu_case.h"

namespace gputrace::bench {

/// A rate that was measured.
struct AluRate {
  AluShape shape;
  std::uint32_t lanes = 0;  ///< of a subgroup
  analysis::BenchPoint point;
  std::string rounding;                ///< AluCase::rounding
  std::optional<double> instructions;  ///< vector instructions an operation
};

/// "peak.fp32" of the fastest operation; "fma / a*b+c" and "fma / precise a*b+c" with the subgroup
/// size `lanes` of all figures that follow; "add: instructions an operation"; "fp16 computed
/// wider". Rates that are suspect make no finding.
[[nodiscard]] std::vector<analysis::DerivedValue> alu_findings(AluType type, std::uint32_t lanes,
                                                               const std::vector<AluRate>& rates);

}  // namespace gputrace::bench
