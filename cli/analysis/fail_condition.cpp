#include "cli/analysis/fail_condition.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <utility>
#include <vector>

namespace gputrace::analysis {
namespace {

constexpr std::string_view kForm =
    "NAME>LIMIT or NAME<LIMIT, as in 'EA_BUSY>+5pp' (points) or 'package_power>+5%' (relative)";

bool is_whole_gpu(const std::string& register_name) {
  return register_name.find("_SE") == std::string::npos;
}

std::string key_of(const Difference& row) {
  return row.register_name.empty() ? row.name : row.register_name + "." + row.name;
}

const Difference* find_in(const std::vector<Difference>& rows, const FailCondition& condition) {
  const auto found = std::find_if(rows.begin(), rows.end(), [&](const Difference& row) {
    const bool right_register = condition.register_name.empty()
                                    ? is_whole_gpu(row.register_name)
                                    : row.register_name == condition.register_name;
    return row.name == condition.name && right_register;
  });
  return found == rows.end() ? nullptr : &*found;
}

/// Of several sources of a quantity one that can be judged.
const Difference* find_quantity(const std::vector<Difference>& rows,
                                const FailCondition& condition) {
  const Difference* best = nullptr;
  for (const Difference& row : rows) {
    if (condition.register_name.empty() && row.name == condition.name &&
        (best == nullptr || (!best->interval && row.interval))) {
      best = &row;
    }
  }
  return best;
}

std::string names_of(const Comparison& comparison) {
  std::vector<std::string> names;
  for (const std::vector<Difference>* rows :
       {&comparison.units, &comparison.quantities, &comparison.classes}) {
    for (const Difference& row : *rows) {
      std::string key = is_whole_gpu(row.register_name) ? row.name : key_of(row);
      if (std::find(names.begin(), names.end(), key) == names.end()) {
        names.push_back(std::move(key));
      }
    }
  }
  return fmt::format("{}", fmt::join(names, ", "));
}

}  // namespace

Result<FailCondition> parse_fail_condition(std::string_view text) {
  const std::optional<ConditionText> split = split_condition(text);
  if (!split) {
    return not_a_condition(text, "it has neither > nor <", kForm);
  }
  FailCondition condition;
  condition.text = text;
  condition.above = split->above;
  const std::size_t dot = split->name.rfind('.');
  condition.register_name = dot == std::string_view::npos ? "" : split->name.substr(0, dot);
  condition.name = dot == std::string_view::npos ? split->name : split->name.substr(dot + 1);
  if (condition.name.empty()) {
    return not_a_condition(text, "it names nothing", kForm);
  }
  for (const std::string_view suffix : {std::string_view("pp"), std::string_view("%")}) {
    if (split->limit.ends_with(suffix)) {
      condition.relative = suffix == "%";
      const std::string_view limit =
          trimmed(split->limit.substr(0, split->limit.size() - suffix.size()));
      const std::optional<double> number = parse_number(limit);
      if (!number) {
        return not_a_condition(text, fmt::format("'{}' is not a number", limit), kForm);
      }
      condition.limit = *number;
      return condition;
    }
  }
  return not_a_condition(text, "the limit has no unit", kForm);
}

Result<FailVerdict> check(const FailCondition& condition, const Comparison& comparison) {
  const Difference* row = find_in(comparison.units, condition);
  if (row == nullptr) {
    row = find_quantity(comparison.quantities, condition);
  }
  if (row == nullptr && condition.register_name.empty()) {
    row = find_in(comparison.classes, condition);
  }
  if (row == nullptr) {
    return nothing_compared(condition.text, names_of(comparison));
  }
  if (!condition.relative && row->unit != "pp") {
    return fail(ErrorCode::kInvalidArgument,
                fmt::format("--fail-on '{}': {} is in {}, not in points: give the limit in %",
                            condition.text, row->name, row->unit));
  }
  const std::optional<Interval>& interval =
      condition.relative ? row->relative_interval : row->interval;
  const std::optional<double>& difference = condition.relative ? row->relative : row->difference;
  if (!interval || !difference) {
    return not_judged(condition.text, row->why.empty() ? "it is 0 on one side" : row->why);
  }
  const double scale = condition.relative ? 100 : 1;
  return judge_condition(condition.text, condition.above, condition.limit,
                         {.what = key_of(*row),
                          .change = scale * *difference,
                          .interval = {scale * interval->lower, scale * interval->upper},
                          .unit = condition.relative ? " %" : " points"});
}

}  // namespace gputrace::analysis
