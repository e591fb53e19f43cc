// A power sweep as results of tests and as the table for people.
#include <fmt/format.h>

#include <functional>
#include <utility>

#include "cli/commands/roofline/power_sweep.h"

namespace gputrace::commands {

namespace {

using Value = std::function<std::optional<analysis::DerivedValue>(const PowerLevel&)>;

std::optional<analysis::DerivedValue> plain(const std::optional<double>& value) {
  if (!value) {
    return std::nullopt;
  }
  analysis::DerivedValue plain;
  plain.value = *value;
  return plain;
}

std::optional<double> ridge_of(const PowerLevel& level) {
  if (!level.copy || !level.peak || !(level.copy->value > 0)) {
    return std::nullopt;
  }
  return level.peak->value / level.copy->value;
}

analysis::TestResult result_of(const PowerSweep& sweep, std::string id, std::string unit,
                               const Value& value) {
  analysis::TestResult result;
  result.id = std::move(id);
  result.unit = std::move(unit);
  result.axis = "power limit";
  result.axis_unit = "W";
  result.series.push_back({});
  for (const PowerLevel& level : sweep.levels) {
    const auto measured = value(level);
    if (!measured) {
      continue;
    }
    analysis::BenchPoint point;
    point.x = level.watts;
    point.median = measured->value;
    point.p5 = measured->lower;
    point.p95 = measured->upper;
    point.power_w = level.package_w;
    point.why = level.note;
    result.series.front().points.push_back(std::move(point));
  }
  return result;
}

std::string cell(const std::optional<double>& value, int width, int decimals) {
  return value ? fmt::format("{:>{}.{}f}", *value, width, decimals)
               : fmt::format("{:>{}}", "?", width);
}

std::optional<double> number(const std::optional<analysis::DerivedValue>& value) {
  return value ? std::optional(value->value) : std::nullopt;
}

}  // namespace

std::vector<analysis::TestResult> power_results(const PowerSweep& sweep) {
  std::vector<analysis::TestResult> results;
  const auto add = [&](const char* id, const char* unit, const Value& value) {
    auto result = result_of(sweep, id, unit, value);
    if (!result.series.front().points.empty()) {
      results.push_back(std::move(result));
    }
  };
  add("power.copy", "GB/s", [](const PowerLevel& level) { return level.copy; });
  add("power.peak", "GFLOPS", [](const PowerLevel& level) { return level.peak; });
  add("power.ridge", "FLOP/B", [](const PowerLevel& level) { return plain(ridge_of(level)); });
  add("power.package", "W", [](const PowerLevel& level) { return plain(level.package_w); });
  add("power.temperature", "C", [](const PowerLevel& level) { return plain(level.temperature_c); });
  add("power.fan", "rpm", [](const PowerLevel& level) { return plain(level.fan_rpm); });
  return results;
}

std::string power_table(const std::vector<PowerLevel>& levels) {
  std::string text =
      "Power sweep\n   limit  package  DRAM copy  fp32 peak   ridge  die     fan\n"
      "       W        W       GB/s     GFLOPS  FLOP/B    C     rpm\n";
  for (const PowerLevel& level : levels) {
    text += fmt::format("{:>8} {} {} {} {} {} {}\n", level.watts, cell(level.package_w, 8, 1),
                        cell(number(level.copy), 10, 1), cell(number(level.peak), 10, 0),
                        cell(ridge_of(level), 7, 1), cell(level.temperature_c, 4, 0),
                        cell(level.fan_rpm, 7, 0));
  }
  for (const PowerLevel& level : levels) {
    if (!level.note.empty()) {
      text += fmt::format("  at {} W: {}\n", level.watts, level.note);
    }
  }
  return text;
}

}  // namespace gputrace::commands
