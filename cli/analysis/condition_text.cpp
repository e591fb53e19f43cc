#include "cli/analysis/condition_text.h"

#include <fmt/format.h>

#include <charconv>
#include <cmath>
#include <system_error>

namespace gputrace::analysis {

std::optional<ConditionText> split_condition(std::string_view text) {
  const std::size_t at = text.find_last_of("<>");
  if (at == std::string_view::npos) {
    return std::nullopt;
  }
  return ConditionText{trimmed(text.substr(0, at)), text[at] == '>', trimmed(text.substr(at + 1))};
}

std::string_view trimmed(std::string_view text) {
  const std::size_t first = text.find_first_not_of(' ');
  return first == std::string_view::npos
             ? std::string_view()
             : text.substr(first, text.find_last_not_of(' ') - first + 1);
}

std::optional<double> parse_number(std::string_view text) {
  if (text.starts_with('+') && !text.starts_with("+-")) {
    text.remove_prefix(1);
  }
  double value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  const bool whole = error == std::errc() && end == text.data() + text.size();
  return whole && std::isfinite(value) ? std::optional(value) : std::nullopt;
}

tl::unexpected<Error> not_a_condition(std::string_view text, std::string_view why,
                                      std::string_view form) {
  return fail(ErrorCode::kUsage, fmt::format("--fail-on '{}': {}. Write {}", text, why, form));
}

tl::unexpected<Error> nothing_compared(std::string_view text, std::string_view names) {
  return fail(ErrorCode::kInvalidArgument,
              fmt::format("--fail-on '{}': no such thing was compared. There is: {}", text,
                          names.empty() ? "nothing" : names));
}

tl::unexpected<Error> not_judged(std::string_view text, std::string_view why) {
  return fail(ErrorCode::kInvalidArgument,
              fmt::format("--fail-on '{}' cannot be judged: {}", text, why));
}

FailVerdict judge_condition(std::string_view text, bool above, double limit,
                            const ConditionChange& change) {
  FailVerdict verdict;
  verdict.failed = above ? change.interval.lower > limit : change.interval.upper < limit;
  verdict.explanation =
      fmt::format("'{}' {}: {} changed by {:+.3g}{} ({:+.3g} to {:+.3g}); {} {} {:+.3g}{}", text,
                  verdict.failed ? "holds" : "does not hold", change.what, change.change,
                  change.unit, change.interval.lower, change.interval.upper,
                  verdict.failed ? "all of this is" : "not all of this is",
                  above ? "above" : "below", limit, change.unit);
  return verdict;
}

}  // namespace gputrace::analysis
