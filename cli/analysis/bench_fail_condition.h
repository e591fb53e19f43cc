// What `bench compare --fail-on` says, and whether a comparison meets it.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "cli/analysis/bench_comparison.h"
#include "cli/analysis/condition_text.h"
#include "daemon/base/result.h"

namespace gputrace::analysis {

/// NAME>LIMIT% or NAME<LIMIT%: the change of B over A. NAME is TEST ("alu.fp32": any of its
/// series), TEST/SERIES ("alu.fp32/fma"), TEST/SERIES@X ("latency.vector/1 chain@64KiB"),
/// TEST/VALUE ("latency.vector/memory.latency"), or "slower": any series that is slower by more
/// than LIMIT, in time or rate. Of several things that a name means, those count that changed
/// really: of 20 intervals one leaves out the truth by chance.
struct BenchFailCondition {
  std::string text;
  std::string test;  ///< empty: "slower"
  std::string name;  ///< empty: all series
  std::optional<double> x;
  bool above = true;
  double limit = 0;  ///< percent
};
/// kUsage with an example.
[[nodiscard]] Result<BenchFailCondition> parse_bench_fail_condition(std::string_view text);

/// kInvalidArgument: nothing of that name was compared (names what was), or nothing of it has an
/// interval.
[[nodiscard]] Result<FailVerdict> check(const BenchFailCondition& condition,
                                        const BenchComparison& comparison);

}  // namespace gputrace::analysis
