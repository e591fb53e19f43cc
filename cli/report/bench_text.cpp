#include "cli/report/bench_text.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <vector>

#include "cli/report/bench_json.h"
#include "cli/report/bench_table.h"
#include "cli/report/text_format.h"

namespace gputrace::report {
namespace {

using analysis::BenchRun;
using analysis::CountCheck;
using analysis::DerivedValue;
using analysis::Proof;
using analysis::TestResult;
using analysis::TestStatus;

std::string_view proof_word(Proof proof) {
  switch (proof) {
    case Proof::kPassed:
      return "passed";
    case Proof::kFailed:
      return "FAILED";
    case Proof::kNotDone:
      break;
  }
  return "not done";
}

void append_device(Page& page, const BenchRun& run) {
  if (run.device.simulated) {
    page.line("SIMULATED: a model of a GPU made these figures; none was measured.", Ink::kCaution);
  }
  page.line(page.safe(run.device.name), Ink::kBold);
  std::vector<std::string> facts;
  if (!run.device.driver.empty()) {
    facts.push_back(run.device.driver_info.empty()
                        ? run.device.driver
                        : fmt::format("{}, {}", run.device.driver, run.device.driver_info));
  }
  if (run.device.pci) {
    facts.push_back(*run.device.pci);
  }
  if (!run.device.subgroup_sizes.empty()) {
    facts.push_back(fmt::format("subgroups of {}", fmt::join(run.device.subgroup_sizes, ", ")));
  }
  if (run.clock_mhz) {
    facts.push_back(fmt::format("{:.0f} MHz", *run.clock_mhz));
  }
  if (run.power_w) {
    facts.push_back(fmt::format("{:.1f} W", *run.power_w));
  }
  if (run.temperature_c) {
    facts.push_back(fmt::format("{:.0f} C", *run.temperature_c));
  }
  if (run.quick) {
    facts.emplace_back("a quick run");
  }
  if (!facts.empty()) {
    page.paragraph(page.safe(fmt::format("{}", fmt::join(facts, "; "))), 0, Ink::kDim);
  }
  if (run.cancelled) {
    page.line("Stopped before its end: this is what was measured until then.", Ink::kCaution);
  }
}

/// How the counts of the formulas compare with the code; each that does not agree by name.
void append_counts(Page& page, const std::vector<CountCheck>& counts) {
  std::size_t agree = 0;
  std::size_t hidden = 0;
  for (const CountCheck& count : counts) {
    if (!count.isa) {
      ++hidden;
    } else if (*count.isa == count.formula) {
      ++agree;
    } else {
      page.paragraph(fmt::format("  {}: {} {} a trip by the formula, {} in the driver's code",
                                 page.safe(count.kernel), format_figure(count.formula),
                                 page.safe(count.operation), format_figure(*count.isa)),
                     4, Ink::kCaution);
    }
  }
  if (agree > 0) {
    page.line(fmt::format("  {} of {} counts are found in the driver's code as the formulas say",
                          agree, counts.size()),
              Ink::kDim);
  }
  if (hidden > 0) {
    page.line(
        fmt::format("  {} counts cannot be checked: the driver does not show its code", hidden),
        Ink::kDim);
  }
}

void append_derived(Page& page, const std::vector<DerivedValue>& values) {
  for (const DerivedValue& derived : values) {
    const bool bytes = derived.unit == "B";
    const auto figure = [&](double value) {
      return bytes ? format_bytes(value) : format_figure(value);
    };
    std::string text = fmt::format("  {}: {}", derived.what, figure(derived.value));
    if (!bytes && !derived.unit.empty()) {
      text += " " + derived.unit;
    }
    if (derived.lower && derived.upper) {
      text += fmt::format(" ({} .. {})", figure(*derived.lower), figure(*derived.upper));
    }
    if (!derived.confidence.empty()) {
      text += ", " + derived.confidence;
    }
    if (!derived.by.empty()) {
      text += "; " + derived.by;
    }
    page.paragraph(page.safe(text), 4);
  }
}

void append_test(Page& page, const TestResult& test) {
  std::string title = test.id;
  if (!test.unit.empty()) {
    title += ": " + test.unit;
  }
  if (!test.axis.empty()) {
    title += " by " + test.axis;
  }
  if (!test.axis_unit.empty() && test.axis_unit != "B") {
    title += fmt::format(" ({})", test.axis_unit);
  }
  page.line();
  page.line(page.safe(title), Ink::kBold);
  if (test.status != TestStatus::kOk) {
    page.paragraph(page.safe(fmt::format("  {}: {}", status_name(test.status),
                                         test.why.empty() ? "no reason is known" : test.why)),
                   4, Ink::kCaution);
  }
  append_bench_table(page, test);
  append_derived(page, test.derived);
  if (test.result != Proof::kNotDone || test.isa != Proof::kNotDone ||
      test.rate != Proof::kNotDone) {
    page.line(fmt::format("  Proofs: result {}, ISA {}, rate {}", proof_word(test.result),
                          proof_word(test.isa), proof_word(test.rate)));
  }
  append_counts(page, test.counts);
}

}  // namespace

std::string format_figure(double value) {
  if (!std::isfinite(value)) {
    return "-";
  }
  const double size = std::abs(value);
  constexpr double kLargeCount = 1e15;
  if (size >= 999.95 || (size < kLargeCount && std::floor(size) == size)) {
    const std::string digits =
        format_count(static_cast<std::uint64_t>(std::llround(std::min(size, 1e18))));
    return value < 0 ? "-" + digits : digits;
  }
  if (size >= 99.995) {
    return fmt::format("{:.1f}", value);
  }
  if (size >= 9.9995) {
    return fmt::format("{:.2f}", value);
  }
  return size >= 0.1 ? fmt::format("{:.3f}", value) : fmt::format("{:.3g}", value);
}

std::string format_bytes(double bytes) {
  constexpr std::array<std::string_view, 4> kUnits{"B", "KiB", "MiB", "GiB"};
  std::size_t unit = 0;
  while (unit + 1 < kUnits.size() && bytes >= 1024) {
    bytes /= 1024;
    ++unit;
  }
  const bool whole = bytes >= 99.95 || std::abs(bytes - std::round(bytes)) < 0.05;
  return whole ? fmt::format("{:.0f} {}", bytes, kUnits.at(unit))
               : fmt::format("{:.1f} {}", bytes, kUnits.at(unit));
}

std::string render_bench_text(const BenchRun& run, const TextOptions& options) {
  Page page(options);
  append_device(page, run);
  for (const TestResult& test : run.tests) {
    append_test(page, test);
  }
  return page.take();
}

}  // namespace gputrace::report
