#include "cli/analysis/bench_fail_condition.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <utility>
#include <vector>

namespace gputrace::analysis {
namespace {

constexpr std::string_view kSlower = "slower";

constexpr std::string_view kForm =
    "NAME>LIMIT% or NAME<LIMIT%, as in 'alu.fp32/fma<-5%', 'latency.vector>+10%' or 'slower>5%'";

/// "64KiB", "64 KiB", "2048", "0.25".
std::optional<double> parse_place(std::string_view text) {
  constexpr std::array<std::pair<std::string_view, double>, 4> kUnits{
      {{"KiB", 1024.0}, {"MiB", 1048576.0}, {"GiB", 1073741824.0}, {"B", 1.0}}};
  for (const auto& [unit, factor] : kUnits) {
    if (text.ends_with(unit)) {
      const auto number = parse_number(trimmed(text.substr(0, text.size() - unit.size())));
      return number ? std::optional(*number * factor) : std::nullopt;
    }
  }
  return parse_number(text);
}

std::string name_of(const BenchRatio& row) {
  return row.name.empty() ? row.test : row.test + "/" + row.name;
}

std::string names_of(const BenchComparison& comparison) {
  constexpr std::size_t kMost = 30;
  std::vector<std::string> names;
  for (const std::vector<BenchRatio>* rows : {&comparison.series, &comparison.derived}) {
    for (const BenchRatio& row : *rows) {
      names.push_back(name_of(row));
    }
  }
  const std::size_t all = names.size();
  names.resize(std::min(all, kMost));
  return fmt::format("{}{}", fmt::join(names, ", "),
                     all > kMost ? fmt::format(" and {} more", all - kMost) : "");
}

/// Places as people write them: 5.7 KiB is 5793 B.
bool is_place(const BenchRatio& row, double x) {
  return row.x && std::abs(*row.x - x) <= 0.01 * std::abs(x);
}

std::vector<const BenchRatio*> rows_of(const BenchFailCondition& condition,
                                       const BenchComparison& comparison) {
  std::vector<const BenchRatio*> rows;
  if (condition.x) {
    for (const BenchRatio& row : comparison.points) {
      if (row.test == condition.test && row.name == condition.name && is_place(row, *condition.x)) {
        rows.push_back(&row);
      }
    }
    return rows;
  }
  for (const BenchRatio& row : comparison.series) {
    if (row.test == condition.test && (condition.name.empty() || row.name == condition.name)) {
      rows.push_back(&row);
    }
  }
  for (const BenchRatio& row : comparison.derived) {
    if (row.test == condition.test && row.name == condition.name) {
      rows.push_back(&row);
    }
  }
  return rows;
}

Interval percent(const Interval& ratio) {
  return {100 * (ratio.lower - 1), 100 * (ratio.upper - 1)};
}

/// How much slower, of a time or a rate.
Interval slowdown(const BenchRatio& row) {
  const Interval ratio = row.interval.value_or(Interval{0, 1});
  return row.less_is_better ? percent(ratio) : percent({1 / ratio.upper, 1 / ratio.lower});
}

FailVerdict check_slower(const BenchFailCondition& condition, const BenchComparison& comparison) {
  FailVerdict verdict;
  std::vector<std::string> slower;
  for (const BenchRatio& row : comparison.series) {
    const bool judged = row.interval && row.interval->lower > 0 &&
                        (row.less_is_better || row.is_rate) && row.reality == Reality::kReal;
    if (judged && slowdown(row).lower > condition.limit) {
      slower.push_back(fmt::format("{} ({:+.3g} to {:+.3g} %)", name_of(row), slowdown(row).lower,
                                   slowdown(row).upper));
    }
  }
  verdict.failed = !slower.empty();
  verdict.explanation =
      verdict.failed
          ? fmt::format("'{}' holds: slower are {}", condition.text, fmt::join(slower, ", "))
          : fmt::format("'{}' does not hold: of {} series none is slower by so much, surely",
                        condition.text, comparison.series.size());
  return verdict;
}

}  // namespace

Result<BenchFailCondition> parse_bench_fail_condition(std::string_view text) {
  const std::optional<ConditionText> split = split_condition(text);
  if (!split) {
    return not_a_condition(text, "it has neither > nor <", kForm);
  }
  BenchFailCondition condition;
  condition.text = text;
  condition.above = split->above;
  std::string_view name = split->name;
  if (!split->limit.ends_with('%')) {
    return not_a_condition(text, "the limit has no %", kForm);
  }
  const std::string_view limit = trimmed(split->limit.substr(0, split->limit.size() - 1));
  const std::optional<double> number = parse_number(limit);
  if (!number) {
    return not_a_condition(text, fmt::format("'{}' is not a number", limit), kForm);
  }
  condition.limit = *number;
  if (name == kSlower) {
    return condition.above && condition.limit >= 0
               ? Result<BenchFailCondition>(std::move(condition))
               : not_a_condition(text, "slower has a limit from 0 % on, and >", kForm);
  }
  if (const std::size_t place = name.rfind('@'); place != std::string_view::npos) {
    condition.x = parse_place(trimmed(name.substr(place + 1)));
    if (!condition.x) {
      return not_a_condition(
          text, fmt::format("'{}' is no place on an axis", trimmed(name.substr(place + 1))), kForm);
    }
    name = trimmed(name.substr(0, place));
  }
  const std::size_t slash = name.find('/');
  condition.test = name.substr(0, slash);
  condition.name = slash == std::string_view::npos ? "" : name.substr(slash + 1);
  if (condition.test.empty()) {
    return not_a_condition(text, "it names no test", kForm);
  }
  return condition;
}

Result<FailVerdict> check(const BenchFailCondition& condition, const BenchComparison& comparison) {
  if (condition.test.empty()) {
    return check_slower(condition, comparison);
  }
  const std::vector<const BenchRatio*> rows = rows_of(condition, comparison);
  if (rows.empty()) {
    return nothing_compared(condition.text, names_of(comparison));
  }
  FailVerdict verdict;
  std::size_t judged = 0;
  for (const BenchRatio* row : rows) {
    if (!row->interval || !row->ratio) {
      continue;
    }
    FailVerdict of_row =
        judge_condition(condition.text, condition.above, condition.limit,
                        {.what = name_of(*row) + (row->x ? fmt::format("@{:g}", *row->x) : ""),
                         .change = 100 * (*row->ratio - 1),
                         .interval = percent(*row->interval),
                         .unit = " %"});
    if (of_row.failed && rows.size() > 1 && row->reality != Reality::kReal) {
      of_row.failed = false;
      of_row.explanation =
          fmt::format("'{}' does not hold: {}, {:+.3g} %, may be chance among so many",
                      condition.text, name_of(*row), 100 * (*row->ratio - 1));
    }
    if (judged++ == 0 || (of_row.failed && !verdict.failed)) {
      verdict = std::move(of_row);
    }
  }
  if (judged == 0) {
    return not_judged(condition.text, rows.front()->why);
  }
  return verdict;
}

}  // namespace gputrace::analysis
