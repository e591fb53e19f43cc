// What the conditions of `compare --fail-on` and of `bench compare --fail-on` have in common.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "cli/analysis/statistics.h"
#include "daemon/base/result.h"

namespace gputrace::analysis {

struct FailVerdict {
  bool failed = false;      ///< the whole interval lies beyond the limit
  std::string explanation;  ///< with the numbers
};

/// NAME>LIMIT or NAME<LIMIT, without the blanks around both.
struct ConditionText {
  std::string_view name;
  bool above = true;
  std::string_view limit;
};
/// At the last < or >; absent where there is none.
[[nodiscard]] std::optional<ConditionText> split_condition(std::string_view text);

[[nodiscard]] std::string_view trimmed(std::string_view text);
/// "5", "+5", "-0.5"; finite, and nothing behind it.
[[nodiscard]] std::optional<double> parse_number(std::string_view text);

/// kUsage; `form` says how conditions are written, with examples.
[[nodiscard]] tl::unexpected<Error> not_a_condition(std::string_view text, std::string_view why,
                                                    std::string_view form);
/// kInvalidArgument; `names`: what was compared.
[[nodiscard]] tl::unexpected<Error> nothing_compared(std::string_view text, std::string_view names);
[[nodiscard]] tl::unexpected<Error> not_judged(std::string_view text, std::string_view why);

/// What is held against the limit, all in `unit`: " %", " points".
struct ConditionChange {
  std::string what;
  double change = 0;
  Interval interval;
  std::string_view unit;
};
[[nodiscard]] FailVerdict judge_condition(std::string_view text, bool above, double limit,
                                          const ConditionChange& change);

}  // namespace gputrace::analysis
