// What a report's answer cannot say, why, and what to do about it.
#pragma once

#include <string>
#include <vector>

#include "cli/report/class_summary.h"
#include "cli/report/wording.h"

namespace gputrace::report {

/// Below this analysis::certainty_word cannot tell.
inline constexpr double kGuess = 0.5;

/// A class that says what held the GPU back.
[[nodiscard]] inline bool is_judged(analysis::Bottleneck bottleneck) {
  return bottleneck != analysis::Bottleneck::kIdle && bottleneck != analysis::Bottleneck::kUnknown;
}

/// A share of time that is worth no words.
inline constexpr double kSmallShare = 0.01;

/// What a phase rests on, in one paragraph, without "Cannot tell: ", which the answer says itself;
/// may be empty.
[[nodiscard]] std::string evidence_of(const Phase& phase);

/// "10:34 (18 %)".
[[nodiscard]] std::string time_share(double seconds, double total_s);

/// Answer::limits, from the parts of the answer that are there.
[[nodiscard]] std::vector<std::string> limits_of(const Answer& answer, const Report& report,
                                                 const std::vector<ClassSummary>& classes);

}  // namespace gputrace::report
