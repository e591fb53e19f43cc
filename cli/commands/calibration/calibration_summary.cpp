#include "cli/commands/calibration/calibration_summary.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <map>
#include <string>
#include <string_view>
#include <utility>

#include "cli/analysis/statistics.h"
#include "cli/commands/calibration/vulkan_driver.h"

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
constexpr std::string_view kUnits = "summary.units";
constexpr std::string_view kPeak = "peak.fp32";
constexpr std::string_view kDram = "dram";
constexpr std::string_view kClass = "class.";
constexpr std::string_view kBusy = "busy.";
constexpr std::string_view kGroup = "group";
constexpr double kMostGroupThreads = 65536;
constexpr double kMostSamples = 1e9;

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

std::optional<std::string_view> after(std::string_view text, std::string_view prefix) {
  return text.starts_with(prefix) ? std::optional(text.substr(prefix.size())) : std::nullopt;
}

/// The units of a summary, a register at a time: their names stand once, in "summary.units".
class UnitLayout {
 public:
  /// All that any of the points has.
  explicit UnitLayout(const std::vector<CalibrationPoint>& points) {
    for (const CalibrationPoint& point : points) {
      for (const BusyUnit& unit : point.units) {
        std::vector<std::string>& names = registers_[unit.key.register_name];
        if (std::ranges::find(names, unit.key.name) == names.end()) {
          names.push_back(unit.key.name);
        }
      }
    }
  }
  /// As a stranger's file has it.
  explicit UnitLayout(const ResultTest& test) {
    for (const ResultValue& value : test.values) {
      const auto register_name = after(value.what, kBusy);
      for (std::size_t begin = 0; register_name && begin < value.source.size();) {
        const std::size_t end = std::min(value.source.find(',', begin), value.source.size());
        registers_[std::string(*register_name)].push_back(value.source.substr(begin, end - begin));
        begin = end + 1;
      }
    }
  }

  [[nodiscard]] const std::map<std::string, std::vector<std::string>>& registers() const {
    return registers_;
  }
  [[nodiscard]] ResultTest names() const {
    ResultTest test;
    test.name = std::string(kUnits);
    for (const auto& [register_name, names] : registers_) {
      ResultValue& value = test.values.emplace_back(
          value_of(std::string(kBusy) + register_name, static_cast<double>(names.size()), "units"));
      value.source = fmt::format("{}", fmt::join(names, ","));
    }
    return test;
  }

 private:
  std::map<std::string, std::vector<std::string>> registers_;
};

/// The counts of a register's units in their order: "1920 12,0 0,-", one without counts is "-".
/// Absent without any.
std::optional<ResultValue> busy_value(const CalibrationPoint& point,
                                      const std::string& register_name,
                                      const std::vector<std::string>& names) {
  ResultValue value = value_of(std::string(kBusy) + register_name, 0, "samples");
  for (const std::string& name : names) {
    const auto unit = std::ranges::find_if(point.units, [&](const BusyUnit& each) {
      return each.key.register_name == register_name && each.key.name == name && each.counts;
    });
    value.source += value.source.empty() ? "" : ",";
    if (unit == point.units.end()) {
      value.source += '-';
      continue;
    }
    const analysis::Counts counts = unit->counts.value_or(analysis::Counts{});
    value.source += fmt::format("{} {}", counts.busy, counts.changes);
    value.value = static_cast<double>(counts.samples);  // one word has all bits of a register
  }
  return value.value > 0 ? std::optional(value) : std::nullopt;
}

ResultTest test_of(const CalibrationPoint& point, const UnitLayout& layout) {
  ResultTest test;
  test.name = fmt::format("{}{}", kTests, point.workload);
  for (const Rate& rate : kRates) {
    if (const std::optional<double>& value = point.*rate.value) {
      test.values.push_back(value_of(std::string(rate.what), *value, rate.unit));
    }
  }
  ResultValue& group =
      test.values.emplace_back(value_of(std::string(kGroup), point.group_threads, "threads"));
  group.source = point.family;
  test.values.push_back(
      value_of(fmt::format("{}{}", kClass, analysis::to_string(point.truth)), 1, ""));
  for (const auto& [register_name, names] : layout.registers()) {
    if (auto busy = busy_value(point, register_name, names)) {
      test.values.push_back(std::move(*busy));
    }
  }
  return test;
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

/// "1920 12" of so many samples: absent for anything that cannot be counts.
std::optional<analysis::Counts> parse_counts(std::uint64_t samples, std::string_view text) {
  analysis::Counts counts{.samples = samples, .busy = 0, .changes = 0};
  const char* const begin = text.data();
  const char* const end = begin + text.size();
  const auto [blank, bad_busy] = std::from_chars(begin, end, counts.busy);
  if (bad_busy != std::errc() || blank == end || *blank != ' ') {
    return std::nullopt;
  }
  const auto [at, bad_changes] = std::from_chars(blank + 1, end, counts.changes);
  const bool possible =
      bad_changes == std::errc() && at == end && counts.busy <= samples && counts.changes < samples;
  return possible ? std::optional(counts) : std::nullopt;
}

void enter_units(const ResultValue& value, const std::string& register_name,
                 const std::vector<std::string>& names, CalibrationPoint& point) {
  if (!(value.value >= 1 && value.value <= kMostSamples)) {
    return;
  }
  std::string_view rest = value.source;
  for (const std::string& name : names) {
    const std::size_t end = std::min(rest.find(','), rest.size());
    const auto counts = parse_counts(static_cast<std::uint64_t>(value.value), rest.substr(0, end));
    rest.remove_prefix(std::min(end + 1, rest.size()));
    if (counts) {
      // A workload has fewer samples than batch means need: counts are all that the interval needs.
      point.units.push_back(
          {.key = {register_name, name},
           .busy = static_cast<double>(counts->busy) / static_cast<double>(counts->samples),
           .counts = counts,
           .ci95 = analysis::ci95(*counts, {})});
    }
  }
}

CalibrationPoint point_of(const ResultTest& test, const UnitLayout& layout) {
  CalibrationPoint point;
  point.workload = test.name.substr(kTests.size());
  for (const ResultValue& value : test.values) {
    const auto rate = std::ranges::find(kRates, std::string_view(value.what), &Rate::what);
    if (rate != kRates.end()) {
      point.*rate->value = value.value > 0 ? std::optional(value.value) : std::nullopt;
    } else if (value.what == kGroup) {
      point.group_threads =
          static_cast<std::uint32_t>(std::clamp(value.value, 0.0, kMostGroupThreads));
      point.family = value.source;
    } else if (const auto truth = after(value.what, kClass)) {
      point.truth = parse_bottleneck(*truth).value_or(Bottleneck::kUnknown);
    } else if (const auto key = after(value.what, kBusy)) {
      const auto names = layout.registers().find(std::string(*key));
      if (names != layout.registers().end()) {
        enter_units(value, names->first, names->second, point);
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
  enter_driver(conditions.driver, run);
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
  const UnitLayout layout(calibration.points);
  run.tests.push_back(layout.names());
  for (const CalibrationPoint& point : calibration.points) {
    if (!point.suspect && !point.units.empty()) {
      run.tests.push_back(test_of(point, layout));
    }
  }
  return run;
}

bool is_summary(const store::ResultRun& run) {
  return std::ranges::find(run.tests, kUnits, &ResultTest::name) != run.tests.end();
}

std::optional<Calibration> calibration_of(const store::ResultRun& run) {
  const auto units = std::ranges::find(run.tests, kUnits, &ResultTest::name);
  if (units == run.tests.end()) {
    return std::nullopt;
  }
  const UnitLayout layout(*units);
  Calibration calibration;
  for (const ResultTest& test : run.tests) {
    if (test.name == kCeilings) {
      enter_ceilings(test, calibration);
    } else if (test.name.starts_with(kTests) && test.name != kUnits) {
      calibration.points.push_back(point_of(test, layout));
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
                            .driver = driver_of(run),
                            .clock_mhz = run.clock_mhz,
                            .power_w = run.power_w};
  return calibration;
}

}  // namespace gputrace::commands
