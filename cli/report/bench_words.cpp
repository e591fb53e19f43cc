#include "cli/report/bench_words.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <string_view>

#include "cli/report/bench_json.h"
#include "cli/report/bench_plot.h"
#include "cli/report/bench_text.h"

namespace gputrace::report {
namespace {

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

std::string value_text(const std::string& unit, double value) {
  if (unit == "B") {
    return format_bytes(value);
  }
  return format_figure(value) + (unit.empty() ? "" : " " + unit);
}

/// "from 4.9 ns a hop at 4 KiB to 129 ns a hop at 16 MiB (1 chain)".
std::string curve_range(const TestResult& test, const PlotSeries& series) {
  const PlotPoint& first = series.points.front();
  const PlotPoint& last = series.points.back();
  return fmt::format("from {} at {} to {} at {}{}",
                     value_text(test.unit == "B" ? "B" : "", first.y),
                     axis_text(test.axis_unit, first.x), value_text(test.unit, last.y),
                     axis_text(test.axis_unit, last.x),
                     series.name.empty() ? "" : fmt::format(" ({})", series.name));
}

std::string bar_name(const TestResult& test, const PlotSeries& series, const PlotPoint& point) {
  return series.name.empty() ? axis_text(test.axis_unit, point.x) : series.name;
}

std::string bars_range(const TestResult& test, const BenchPlot& plot) {
  const bool less = less_is_better(test.unit);
  const PlotSeries* best_series = nullptr;
  const PlotPoint* best = nullptr;
  std::size_t count = 0;
  for (const PlotSeries& series : plot.series) {
    for (const PlotPoint& point : series.points) {
      ++count;
      if (!point.suspect && (best == nullptr || (less ? point.y < best->y : point.y > best->y))) {
        best = &point;
        best_series = &series;
      }
    }
  }
  if (best == nullptr) {
    return "";
  }
  return fmt::format("{}{}: {}", count > 1 ? (less ? "least, " : "most, ") : "",
                     bar_name(test, *best_series, *best), value_text(test.unit, best->y));
}

std::string range_text(const TestResult& test) {
  const BenchPlot plot = bench_plot_of(test);
  if (plot.kind == PlotKind::kNone) {
    return "";
  }
  return plot.kind == PlotKind::kCurves && plot.series.front().points.size() > 1
             ? curve_range(test, plot.series.front())
             : bars_range(test, plot);
}

}  // namespace

bool is_answer(const DerivedValue& value) {
  // A place on the roofline is drawn there.
  return !value.what.starts_with("point.") &&
         (!value.confidence.empty() || (value.lower && value.upper));
}

std::string derived_text(const DerivedValue& value, bool with_source) {
  std::string text =
      fmt::format("{}: {}", value.confidence.empty() ? value.what : level_name(value.what),
                  value_text(value.unit, value.value));
  // An interval of one value says no more than the value.
  if (value.lower && value.upper && *value.lower < *value.upper) {
    const bool bytes = value.unit == "B";
    text +=
        fmt::format(" ({} .. {})", bytes ? format_bytes(*value.lower) : format_figure(*value.lower),
                    bytes ? format_bytes(*value.upper) : format_figure(*value.upper));
  }
  if (!value.confidence.empty()) {
    text += ", " + value.confidence;
  }
  if (with_source && !value.by.empty()) {
    text += "; " + value.by;
  }
  return text;
}

std::vector<std::string> answers_of(const TestResult& test) {
  std::vector<std::string> answers;
  const std::string range = range_text(test);
  for (const DerivedValue& value : test.derived) {
    if (is_answer(value)) {
      answers.push_back(derived_text(value, true));
    }
  }
  const bool is_bars = bench_plot_of(test).kind == PlotKind::kBars;
  if (!range.empty() && (answers.empty() || is_bars)) {
    answers.insert(answers.begin(), range);
  }
  return answers;
}

std::vector<std::string> kinds_of(const analysis::BenchRun& run) {
  std::vector<std::string> kinds;
  for (const TestResult& test : run.tests) {
    const std::string kind(kind_of_test(test.id));
    if (std::ranges::find(kinds, kind) == kinds.end()) {
      kinds.push_back(kind);
    }
  }
  return kinds;
}

std::vector<std::string> best_answers(const analysis::BenchRun& run, std::string_view kind) {
  std::vector<std::string> inferred;
  std::vector<std::string> measured;
  std::vector<std::string> ranges;
  for (const TestResult& test : run.tests) {
    if (kind_of_test(test.id) != kind || test.status == TestStatus::kSkipped ||
        test.status == TestStatus::kFailed) {
      continue;
    }
    const std::string name = test.id == kind ? "" : test.id.substr(kind.size() + 1) + ", ";
    const std::string_view mark = test.status == TestStatus::kSuspect ? " (suspect)" : "";
    bool any = false;
    for (const DerivedValue& value : test.derived) {
      if (!is_answer(value)) {
        continue;
      }
      std::string text = derived_text(value, value.confidence.empty());
      // "fill.rgba8.peak" of fill.rgba8 is said once.
      text.erase(0, text.starts_with(test.id + ".") ? test.id.size() + 1 : 0);
      (value.confidence.empty() ? measured : inferred)
          .push_back(fmt::format("{}{}{}", name, text, mark));
      any = true;
    }
    if (const std::string range = range_text(test); !any && !range.empty()) {
      ranges.push_back(fmt::format("{}{}{}", name, range, mark));
    }
  }
  inferred.insert(inferred.end(), measured.begin(), measured.end());
  inferred.insert(inferred.end(), ranges.begin(), ranges.end());
  return inferred;
}

std::string test_title(const TestResult& test) {
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
  return title;
}

std::string status_sentence(const TestResult& test) {
  if (test.status == TestStatus::kOk) {
    return test.why;
  }
  return fmt::format("{}: {}", status_name(test.status),
                     test.why.empty() ? "no reason is known" : test.why);
}

std::string proof_sentence(const TestResult& test) {
  if (test.result == Proof::kNotDone && test.isa == Proof::kNotDone &&
      test.rate == Proof::kNotDone) {
    return "";
  }
  return fmt::format("Proofs: result {}, ISA {}, rate {}", proof_word(test.result),
                     proof_word(test.isa), proof_word(test.rate));
}

CountSentences count_sentences(const std::vector<CountCheck>& counts) {
  CountSentences sentences;
  std::size_t agree = 0;
  std::size_t hidden = 0;
  for (const CountCheck& count : counts) {
    if (!count.isa) {
      ++hidden;
    } else if (*count.isa == count.formula) {
      ++agree;
    } else {
      sentences.differing.push_back(
          fmt::format("{}: {} {} a trip by the formula, {} in the driver's code", count.kernel,
                      format_figure(count.formula), count.operation, format_figure(*count.isa)));
    }
  }
  if (agree > 0) {
    sentences.others.push_back(
        fmt::format("{} of {} counts are found in the driver's code as the formulas say", agree,
                    counts.size()));
  }
  if (hidden > 0) {
    sentences.others.push_back(
        fmt::format("{} count{} cannot be checked: the driver does not show its code", hidden,
                    hidden == 1 ? "" : "s"));
  }
  return sentences;
}

std::vector<std::string> device_facts(const analysis::BenchRun& run) {
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
  return facts;
}

}  // namespace gputrace::report
