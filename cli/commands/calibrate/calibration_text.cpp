#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <filesystem>
#include <optional>
#include <string_view>
#include <vector>

#include "cli/commands/calibrate/calibration_output.h"
#include "cli/report/stimulus_text.h"
#include "cli/report/text_format.h"

namespace gputrace::commands {

namespace {

using analysis::BusyUnit;
using analysis::CalibrationPoint;
using report::Ink;
using report::Page;

/// Of the other columns.
constexpr std::size_t kBesideName = 50;
constexpr std::size_t kMostName = 44;
constexpr std::size_t kBusyWidth = 8;
constexpr std::string_view kBusyHead = "busy, % of samples";
/// The units that tell limits apart, deepest first.
constexpr std::array<std::string_view, 6> kUnits{"EA_BUSY", "GL2CC_BUSY", "TCP_BUSY",
                                                 "TA_BUSY", "SPI_BUSY",   "CB_BUSY"};

std::string number(const std::optional<double>& value) {
  if (!value) {
    return "-";
  }
  const double size = std::abs(*value);
  return size >= 1000  ? report::format_count(static_cast<std::uint64_t>(std::llround(*value)))
         : size >= 100 ? fmt::format("{:.0f}", *value)
         : size >= 10  ? fmt::format("{:.1f}", *value)
                       : fmt::format("{:.2f}", *value);
}

std::size_t name_width(const Page& page, const std::vector<CalibrationPoint>& points) {
  std::size_t longest = kBusyHead.size();
  for (const CalibrationPoint& point : points) {
    longest = std::max(longest, report::display_width(page.safe(point.workload)));
  }
  return std::min({longest, kMostName, page.text_width() - kBesideName});
}

/// Names differ at their ends: what is too long loses its middle.
std::string name_cell(const Page& page, std::string_view name, std::size_t width) {
  const std::string safe = page.safe(name);
  const std::size_t taken = report::display_width(safe);
  if (taken <= width) {
    return safe + std::string(width - taken, ' ');
  }
  // Clipped and escaped text that is not ASCII is cut at its end alone.
  if (taken != safe.size()) {
    const std::string clipped = report::clip(safe, width);
    return clipped + std::string(width - report::display_width(clipped), ' ');
  }
  const std::size_t tail = (width - 2) / 2;
  return safe.substr(0, width - 2 - tail) + ".." + safe.substr(safe.size() - tail);
}

/// "96 ±1": percent, with the wider side of the interval.
std::string busy_cell(const std::vector<BusyUnit>& units, std::string_view name) {
  const auto unit =
      std::ranges::find_if(units, [&](const BusyUnit& each) { return each.key.name == name; });
  if (unit == units.end()) {
    return "-";
  }
  const std::optional<analysis::Interval>& interval = unit->ci95;
  if (!interval) {
    return fmt::format("{:.0f}", 100 * unit->busy);
  }
  const double side = std::max(unit->busy - interval->lower, interval->upper - unit->busy);
  constexpr double kRounding = 1e-9;  // 0.96 - 0.95 is more than 0.01
  return fmt::format("{:.0f} ±{:.0f}", 100 * unit->busy, std::ceil(100 * side - kRounding));
}

/// Right-aligned in columns, whatever characters it is made of.
std::string padded(const std::string& text, std::size_t width) {
  const std::size_t taken = report::display_width(text);
  return std::string(width > taken ? width - taken : 0, ' ') + text;
}

std::string rates_line(const Page& page, const CalibrationPoint& point, std::size_t name) {
  const std::string truth =
      fmt::format("{}{}", analysis::to_string(point.truth), point.suspect ? ", suspect" : "");
  return fmt::format("  {}{}{}{}{}{}  {}", name_cell(page, point.workload, name),
                     padded(number(point.intensity), 7), padded(number(point.gbps), 6),
                     padded(number(point.gflops), 7), padded(number(point.clock_mhz), 7),
                     padded(number(point.power_w), 6), truth);
}

std::string busy_line(const Page& page, const CalibrationPoint& point, std::size_t name) {
  std::string line = "  " + name_cell(page, point.workload, name);
  for (const std::string_view unit : kUnits) {
    line += padded(page.words(busy_cell(point.units, unit)), kBusyWidth);
  }
  return line;
}

void append_head(Page& page, const analysis::Calibration& calibration) {
  const analysis::Conditions& conditions = calibration.conditions;
  if (conditions.simulated) {
    page.line("SIMULATED: a model of a GPU made these figures; none was measured.", Ink::kCaution);
  }
  page.line(page.safe(conditions.gpu), Ink::kBold);
  std::vector<std::string> facts;
  if (conditions.driver) {
    facts.push_back(*conditions.driver);
  }
  if (conditions.clock_mhz) {
    facts.push_back(fmt::format("{:.0f} MHz under load", *conditions.clock_mhz));
  }
  if (conditions.power_w) {
    facts.push_back(fmt::format("{:.1f} W", *conditions.power_w));
  }
  if (calibration.compute) {
    facts.push_back(fmt::format("{} GFLOPS of fp32", number(calibration.compute->value)));
  }
  if (calibration.bandwidth) {
    facts.push_back(fmt::format("{} GB/s of DRAM", number(calibration.bandwidth->value)));
  }
  if (const auto ridge = analysis::ridge_of(calibration)) {
    facts.push_back(fmt::format("ridge at {} FLOP/B", number(ridge)));
  }
  page.paragraph(page.safe(fmt::format("{}", fmt::join(facts, ", "))), 0);
}

std::string range_text(const analysis::Range& range) {
  if (range.lower && range.upper) {
    return fmt::format("{} .. {}", number(range.lower), number(range.upper));
  }
  if (range.lower) {
    return "above " + number(range.lower);
  }
  return range.upper ? "below " + number(range.upper) : "not known";
}

std::string_view verdict_of(const std::optional<bool>& right) {
  return !right ? "" : *right ? "yes" : "NO";
}

std::string validated_line(const Page& page, const ValidatedWorkload& workload) {
  const std::string estimate =
      workload.position ? range_text(workload.position->of_ridge) : std::string("-");
  const std::string_view right = verdict_of(workload.class_right);
  return fmt::format(
      "  {}{}  {:<15}{:<5}{:<11}{:<11}{:>4.0f} %{}{}", name_cell(page, workload.truth.workload, 20),
      padded(number(workload.of_ridge), 7), estimate, verdict_of(workload.inside),
      analysis::to_string(workload.truth.truth), analysis::to_string(workload.verdict.bottleneck),
      100 * workload.verdict.confidence, right.empty() ? "" : "  ", right);
}

struct Tally {
  std::size_t right = 0;
  std::size_t of = 0;
  void add(const std::optional<bool>& one) {
    of += one ? 1 : 0;
    right += one.value_or(false) ? 1 : 0;
  }
};

}  // namespace

std::string calibration_text(const analysis::Calibration& calibration,
                             const analysis::StimulusMatrix& matrix,
                             const report::TextOptions& options) {
  Page page(options);
  append_head(page, calibration);
  page.line();
  const std::size_t name = name_width(page, calibration.points);
  page.line(fmt::format("  {:<{}}{:>7}{:>6}{:>7}{:>7}{:>6}  limited by", "workload", name, "FLOP/B",
                        "GB/s", "GFLOPS", "MHz", "W"),
            Ink::kDim);
  for (const CalibrationPoint& point : calibration.points) {
    page.line(rates_line(page, point, name), point.suspect ? Ink::kCaution : Ink::kPlain);
  }
  page.line();
  std::string head = fmt::format("  {:<{}}", kBusyHead, name);
  for (const std::string_view unit : kUnits) {
    head += padded(std::string(report::short_name(unit)), kBusyWidth);
  }
  page.line(head, Ink::kDim);
  for (const CalibrationPoint& point : calibration.points) {
    page.line(busy_line(page, point, name));
  }
  if (matrix.points > 0) {
    page.line();
    report::append_stimulus_matrix(page, matrix);
  }
  return page.take();
}

std::string validation_text(const Validation& validation, const analysis::Calibration& calibration,
                            const report::TextOptions& options) {
  Page page(options);
  page.paragraph(
      page.safe(fmt::format("Validation of the calibration of {}, {}", calibration.started_at,
                            std::filesystem::path(calibration.file).filename().string())),
      0, Ink::kBold);
  if (calibration.conditions.simulated) {
    page.line("SIMULATED: a model of a GPU made these figures; none was measured.", Ink::kCaution);
  }
  page.paragraph(page.safe(validation.fit.why), 0);
  if (!validation.no_position.empty()) {
    page.paragraph(page.safe("No positions: " + validation.no_position), 0, Ink::kCaution);
  }
  if (validation.scatter) {
    page.line(page.words(fmt::format("Workloads scatter by {:.1f} points about the curve.",
                                     100 * *validation.scatter)));
  }
  page.line();
  page.line(fmt::format("  {:<20}{:>7}  {:<15}{:<5}{:<11}{:<11}{:>6}  {}", "AI over ridge", "true",
                        "estimated", "in", "true class", "estimated", "sure", "right"),
            Ink::kDim);
  Tally inside;
  Tally right;
  for (const ValidatedWorkload& workload : validation.workloads) {
    page.line(validated_line(page, workload));
    inside.add(workload.inside);
    right.add(workload.class_right);
  }
  page.line();
  page.line(fmt::format("{}, {} of {} classes right.",
                        inside.of == 0 ? "No position to judge"
                                       : fmt::format("{} of {} positions inside their range",
                                                     inside.right, inside.of),
                        right.right, right.of));
  return page.take();
}

}  // namespace gputrace::commands
