// What `compare --fail-on` says, and whether a comparison meets it.
#pragma once

#include <string>
#include <string_view>

#include "cli/analysis/comparison.h"
#include "cli/analysis/condition_text.h"
#include "daemon/base/result.h"

namespace gputrace::analysis {

/// 'EA_BUSY>+5pp', 'GRBM_STATUS_SE0.TA_BUSY<-3pp', 'package_power>+5%'.
struct FailCondition {
  std::string text;
  std::string register_name;  ///< empty: that of the whole GPU, or no unit is meant
  std::string name;
  bool above = true;
  double limit = 0;  ///< points, or percent
  bool relative = false;
};
/// kUsage with an example.
[[nodiscard]] Result<FailCondition> parse_fail_condition(std::string_view text);

/// kInvalidArgument: nothing of that name was compared (names what was), or it has no interval, so
/// that nothing can be said.
[[nodiscard]] Result<FailVerdict> check(const FailCondition& condition,
                                        const Comparison& comparison);

}  // namespace gputrace::analysis
