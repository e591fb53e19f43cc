#include "cli/report/bench_text.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <vector>

#include "cli/report/bench_plot.h"
#include "cli/report/bench_table.h"
#include "cli/report/bench_text_plot.h"
#include "cli/report/bench_words.h"
#include "cli/report/text_format.h"

namespace gputrace::report {
namespace {

using analysis::BenchRun;
using analysis::DerivedValue;
using analysis::TestResult;
using analysis::TestStatus;

constexpr std::size_t kMostFigures = 8;
constexpr std::size_t kMostAnswers = 3;
constexpr std::size_t kSummaryFrom = 5;

void append_device(Page& page, const BenchRun& run) {
  if (run.device.simulated) {
    page.line("SIMULATED: a model of a GPU made these figures; none was measured.", Ink::kCaution);
  }
  page.line(page.safe(run.device.name), Ink::kBold);
  const std::vector<std::string> facts = device_facts(run);
  if (!facts.empty()) {
    page.paragraph(page.safe(fmt::format("{}", fmt::join(facts, "; "))), 0, Ink::kDim);
  }
  if (run.cancelled) {
    page.line("Stopped before its end: this is what was measured until then.", Ink::kCaution);
  }
}

void append_answers(Page& page, const TestResult& test) {
  for (const std::string& answer : answers_of(test)) {
    page.paragraph(page.safe("  " + answer), 4);
  }
}

/// Figures that stand beside the points; of many of them the ends.
void append_other_figures(Page& page, const std::vector<DerivedValue>& values) {
  std::vector<const DerivedValue*> others;
  for (const DerivedValue& value : values) {
    if (!is_answer(value)) {
      others.push_back(&value);
    }
  }
  for (std::size_t i = 0; i < others.size(); ++i) {
    const bool shown = others.size() <= kMostFigures || i < kMostFigures / 2 ||
                       i + kMostFigures / 2 >= others.size();
    if (shown) {
      page.paragraph(page.safe("  " + derived_text(*others[i], true)), 4);
    } else if (i == kMostFigures / 2) {
      page.line(fmt::format("  ... {} more", others.size() - kMostFigures), Ink::kDim);
    }
  }
}

void append_proofs(Page& page, const TestResult& test) {
  if (const std::string proofs = proof_sentence(test); !proofs.empty()) {
    page.line("  " + proofs);
  }
  const CountSentences counts = count_sentences(test.counts);
  for (const std::string& text : counts.differing) {
    page.paragraph("  " + page.safe(text), 4, Ink::kCaution);
  }
  for (const std::string& text : counts.others) {
    page.line("  " + text, Ink::kDim);
  }
}

/// Of many tests the answers together, before the details of each.
void append_summary(Page& page, const BenchRun& run) {
  const std::vector<std::string> kinds = kinds_of(run);
  if (kinds.size() < kSummaryFrom) {
    return;
  }
  page.line();
  for (const std::string& kind : kinds) {
    const std::vector<std::string> answers = best_answers(run, kind);
    for (std::size_t i = 0; i < std::min(answers.size(), kMostAnswers); ++i) {
      page.entry(i == 0 ? page.safe(kind) : "", page.safe(answers[i]));
    }
  }
}

void append_test(Page& page, const TestResult& test) {
  page.line();
  page.line(page.safe(test_title(test)), Ink::kBold);
  if (const std::string status = status_sentence(test); !status.empty()) {
    page.paragraph(page.safe("  " + status), 4,
                   test.status == TestStatus::kOk ? Ink::kDim : Ink::kCaution);
  }
  append_answers(page, test);
  append_text_plot(page, bench_plot_of(test));
  append_bench_table(page, test);
  append_other_figures(page, test.derived);
  append_proofs(page, test);
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
  // A size just past a round one is measured because it differs from it.
  constexpr double kJustPast = 8;
  const double past = std::fmod(bytes, 1024);
  if (bytes >= 1024 && past >= 1 && past <= kJustPast) {
    return fmt::format("{} + {:.0f} B", format_bytes(bytes - past), past);
  }
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
  append_summary(page, run);
  for (const TestResult& test : run.tests) {
    append_test(page, test);
  }
  return page.take();
}

}  // namespace gputrace::report
