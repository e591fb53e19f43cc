#include "cli/commands/calibration/calibration_summary.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <string>
#include <string_view>
#include <utility>

namespace gputrace::commands {

namespace {

using analysis::Bottleneck;
using analysis::BusyUnit;
using analysis::Calibration;
using analysis::CalibrationPoint;
using store::ResultTest;
using store::ResultValue;

constexpr std::string_view kTests = "summary.";
constexpr std::string_view kCeilings = "summary.ceilings";
constexpr std::string_view kPeak = "peak.fp32";
constexpr std::string_view kDram = "dram";
constexpr std::string_view kClass = "class.";
constexpr std::string_view kFamily = "family.";
constexpr std::string_view kBusy = "busy.";
constexpr std::string_view kGroup = "group";
constexpr double kMostGroupThreads = 65536;

struct Rate {
  std::string_view what;
  std::string_view unit;
  std::optional<double> CalibrationPoint::* value;
};
constexpr std::array kRates{Rate{"intensity", "FLOP/B", &CalibrationPoint::intensity},
                            Rate{kDram, "GB/s", &CalibrationPoint::gbps},
                            Rate{"arithmetic", "GFLOPS", &CalibrationPoint::gflops},
                            Rate{"clock", "MHz", &CalibrationPoint::clock_mhz},
                            Rate{"power", "W", &CalibrationPoint::power_w}};

ResultValue value_of(std::string what, double value, std::string_view unit) {
  ResultValue result;
  result.what = std::move(what);
  result.value = value;
  result.unit = std::string(unit);
  return result;
}

ResultValue busy_value(const BusyUnit& unit) {
  ResultValue value =
      value_of(fmt::format("{}{}.{}", kBusy, unit.key.register_name, unit.key.name), unit.busy, "");
  if (unit.ci95) {
    value.lower = unit.ci95->lower;
    value.upper = unit.ci95->upper;
  }
  if (unit.counts) {
    value.source =
        fmt::format("{} {} {}", unit.counts->samples, unit.counts->busy, unit.counts->changes);
  }
  return value;
}

ResultTest test_of(const CalibrationPoint& point) {
  ResultTest test;
  test.name = fmt::format("{}{}", kTests, point.workload);
  for (const Rate& rate : kRates) {
    if (const std::optional<double>& value = point.*rate.value) {
      test.values.push_back(value_of(std::string(rate.what), *value, rate.unit));
    }
  }
  test.values.push_back(value_of(std::string(kGroup), point.group_threads, "threads"));
  test.values.push_back(
      value_of(fmt::format("{}{}", kClass, analysis::to_string(point.truth)), 1, ""));
  test.values.push_back(value_of(fmt::format("{}{}", kFamily, point.family), 1, ""));
  std::ranges::transform(point.units, std::back_inserter(test.values), busy_value);
  return test;
}

std::optional<std::string_view> after(std::string_view text, std::string_view prefix) {
  return text.starts_with(prefix) ? std::optional(text.substr(prefix.size())) : std::nullopt;
}

std::optional<Bottleneck> parse_bottleneck(std::string_view name) {
  for (auto i = static_cast<int>(Bottleneck::kIdle); i <= static_cast<int>(Bottleneck::kUnknown);
       ++i) {
    if (analysis::to_string(static_cast<Bottleneck>(i)) == name) {
      return static_cast<Bottleneck>(i);
    }
  }
  return std::nullopt;
}

/// "1979 1920 12": absent for anything that cannot be counts.
std::optional<analysis::Counts> parse_counts(std::string_view text) {
  std::array<std::uint64_t, 3> numbers{};
  const char* at = text.data();
  const char* const end = text.data() + text.size();
  for (std::uint64_t& number : numbers) {
    if (&number != numbers.data()) {
      if (at == end || *at != ' ') {
        return std::nullopt;
      }
      ++at;
    }
    const auto [next, error] = std::from_chars(at, end, number);
    if (error != std::errc()) {
      return std::nullopt;
    }
    at = next;
  }
  const analysis::Counts counts{numbers[0], numbers[1], numbers[2]};
  const bool possible = at == end && counts.samples > 0 && counts.busy <= counts.samples &&
                        counts.changes < counts.samples;
  return possible ? std::optional(counts) : std::nullopt;
}

std::optional<BusyUnit> parse_unit(std::string_view key, const ResultValue& value) {
  const std::size_t dot = key.find('.');
  if (dot == std::string_view::npos || !(value.value >= 0 && value.value <= 1)) {
    return std::nullopt;
  }
  BusyUnit unit;
  unit.key = {std::string(key.substr(0, dot)), std::string(key.substr(dot + 1))};
  unit.busy = value.value;
  unit.counts = parse_counts(value.source);
  if (value.lower && value.upper && *value.lower >= 0 && *value.lower <= *value.upper &&
      *value.upper <= 1) {
    unit.ci95 = analysis::Interval{*value.lower, *value.upper};
  }
  return unit;
}

CalibrationPoint point_of(const ResultTest& test) {
  CalibrationPoint point;
  point.workload = test.name.substr(kTests.size());
  for (const ResultValue& value : test.values) {
    const auto rate = std::ranges::find(kRates, std::string_view(value.what), &Rate::what);
    if (rate != kRates.end()) {
      point.*rate->value = value.value > 0 ? std::optional(value.value) : std::nullopt;
    } else if (value.what == kGroup) {
      point.group_threads =
          static_cast<std::uint32_t>(std::clamp(value.value, 0.0, kMostGroupThreads));
    } else if (const auto truth = after(value.what, kClass)) {
      point.truth = parse_bottleneck(*truth).value_or(Bottleneck::kUnknown);
    } else if (const auto family = after(value.what, kFamily)) {
      point.family = std::string(*family);
    } else if (const auto key = after(value.what, kBusy)) {
      if (auto unit = parse_unit(*key, value)) {
        point.units.push_back(std::move(*unit));
      }
    }
  }
  return point;
}

ResultValue ceiling_value(const analysis::Ceiling& ceiling, std::string_view what,
                          const std::string& file) {
  ResultValue value = value_of(std::string(what), ceiling.value, ceiling.unit);
  value.lower = ceiling.lower;
  value.upper = ceiling.upper;
  value.source = file;
  return value;
}

void enter_ceilings(const ResultTest& test, Calibration& calibration) {
  for (const ResultValue& value : test.values) {
    const bool compute = value.what == kPeak;
    if ((!compute && value.what != kDram) || !(value.value > 0)) {
      continue;
    }
    calibration.file = value.source;
    (compute ? calibration.compute : calibration.bandwidth) =
        analysis::Ceiling{.name = compute ? "fp32" : "DRAM",
                          .value = value.value,
                          .lower = value.lower,
                          .upper = value.upper,
                          .unit = value.unit};
  }
}

}  // namespace

store::ResultRun summary_of(const Calibration& calibration) {
  const analysis::Conditions& conditions = calibration.conditions;
  store::ResultRun run;
  run.started_at = calibration.started_at;
  run.device = conditions.gpu;
  run.vendor_id = conditions.vendor_id;
  run.device_id = conditions.device_id;
  run.revision_id = conditions.revision_id;
  run.driver = conditions.driver.value_or("");
  run.simulated = conditions.simulated;
  run.clock_mhz = conditions.clock_mhz;
  run.power_w = conditions.power_w;
  ResultTest& ceilings = run.tests.emplace_back();
  ceilings.name = std::string(kCeilings);
  const std::string file = std::filesystem::path(calibration.file).filename().string();
  if (calibration.compute) {
    ceilings.values.push_back(ceiling_value(*calibration.compute, kPeak, file));
  }
  if (calibration.bandwidth) {
    ceilings.values.push_back(ceiling_value(*calibration.bandwidth, kDram, file));
  }
  for (const CalibrationPoint& point : calibration.points) {
    if (!point.suspect && !point.units.empty()) {
      run.tests.push_back(test_of(point));
    }
  }
  return run;
}

std::optional<Calibration> calibration_of(const store::ResultRun& run) {
  Calibration calibration;
  for (const ResultTest& test : run.tests) {
    if (test.name == kCeilings) {
      enter_ceilings(test, calibration);
    } else if (test.name.starts_with(kTests)) {
      calibration.points.push_back(point_of(test));
    }
  }
  if (calibration.points.empty()) {
    return std::nullopt;
  }
  calibration.started_at = run.started_at;
  calibration.conditions = {.gpu = run.device,
                            .vendor_id = run.vendor_id,
                            .device_id = run.device_id,
                            .revision_id = run.revision_id,
                            .simulated = run.simulated,
                            .driver = run.driver.empty() ? std::nullopt : std::optional(run.driver),
                            .clock_mhz = run.clock_mhz,
                            .power_w = run.power_w};
  return calibration;
}

}  // namespace gputrace::commands
