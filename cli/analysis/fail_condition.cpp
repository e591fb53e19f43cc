#include "cli/analysis/fail_condition.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <charconv>
#include <cmath>
#include <utility>
#include <vector>

namespace gputrace::analysis {
namespace {

tl::unexpected<Error> not_a_condition(std::string_view text, std::string_view why) {
  return fail(ErrorCode::kUsage,
              fmt::format("--fail-on '{}': {}. Write NAME>LIMIT or NAME<LIMIT, as in "
                          "'EA_BUSY>+5pp' (points) or 'package_power>+5%' (relative)",
                          text, why));
}

std::string_view trimmed(std::string_view text) {
  const std::size_t first = text.find_first_not_of(' ');
  return first == std::string_view::npos
             ? std::string_view()
             : text.substr(first, text.find_last_not_of(' ') - first + 1);
}

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
  return names.empty() ? "nothing" : fmt::format("{}", fmt::join(names, ", "));
}

std::string_view side_word(const FailCondition& condition) {
  return condition.above ? "above" : "below";
}

}  // namespace

Result<FailCondition> parse_fail_condition(std::string_view text) {
  const std::size_t at = text.find_first_of("<>");
  if (at == std::string_view::npos) {
    return not_a_condition(text, "it has neither > nor <");
  }
  FailCondition condition;
  condition.text = text;
  condition.above = text[at] == '>';
  const std::string_view key = trimmed(text.substr(0, at));
  const std::size_t dot = key.rfind('.');
  condition.register_name = dot == std::string_view::npos ? "" : key.substr(0, dot);
  condition.name = dot == std::string_view::npos ? key : key.substr(dot + 1);
  if (condition.name.empty()) {
    return not_a_condition(text, "it names nothing");
  }
  std::string_view limit = trimmed(text.substr(at + 1));
  for (const std::string_view suffix : {std::string_view("pp"), std::string_view("%")}) {
    if (limit.ends_with(suffix)) {
      condition.relative = suffix == "%";
      limit = trimmed(limit.substr(0, limit.size() - suffix.size()));
      if (limit.starts_with('+') && !limit.starts_with("+-")) {
        limit.remove_prefix(1);
      }
      const auto [end, error] =
          std::from_chars(limit.data(), limit.data() + limit.size(), condition.limit);
      if (error != std::errc() || end != limit.data() + limit.size() ||
          !std::isfinite(condition.limit)) {
        return not_a_condition(text, fmt::format("'{}' is not a number", limit));
      }
      return condition;
    }
  }
  return not_a_condition(text, "the limit has no unit");
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
    return fail(ErrorCode::kInvalidArgument,
                fmt::format("--fail-on '{}': no such thing was compared. There is: {}",
                            condition.text, names_of(comparison)));
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
    return fail(ErrorCode::kInvalidArgument,
                fmt::format("--fail-on '{}' cannot be judged: {}", condition.text,
                            row->why.empty() ? "it is 0 on one side" : row->why));
  }
  const double scale = condition.relative ? 100 : 1;
  FailVerdict verdict;
  verdict.failed = condition.above ? scale * interval->lower > condition.limit
                                   : scale * interval->upper < condition.limit;
  const std::string_view unit = condition.relative ? " %" : " points";
  verdict.explanation =
      fmt::format("'{}' {}: {} changed by {:+.3g}{} ({:+.3g} to {:+.3g}); {} {} {:+.3g}",
                  condition.text, verdict.failed ? "holds" : "does not hold", key_of(*row),
                  scale * *difference, unit, scale * interval->lower, scale * interval->upper,
                  verdict.failed ? "all of this is" : "not all of this is", side_word(condition),
                  condition.limit);
  return verdict;
}

}  // namespace gputrace::analysis
