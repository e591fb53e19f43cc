#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <set>
#include <string_view>

#include "cli/report/bench_comparison.h"
#include "cli/report/bench_plot.h"
#include "cli/report/bench_text.h"
#include "cli/report/text_format.h"

namespace gputrace::report {
namespace {

using analysis::BenchComparison;
using analysis::BenchRatio;
using analysis::Reality;

constexpr std::size_t kFigureWidth = 8;
constexpr std::size_t kRatioWidth = 7;
constexpr std::size_t kIntervalWidth = 16;
constexpr std::size_t kMostPoints = 12;
/// A value without interval is listed when it changed by more.
constexpr double kWorthTelling = 0.01;
constexpr std::size_t kMostChanges = 12;
constexpr std::size_t kWordWidth = 9;

std::string figure_text(const std::string& unit, const std::optional<double>& value) {
  if (!value) {
    return "-";
  }
  return unit == "B" ? format_bytes(*value) : format_figure(*value);
}

std::string ratio_figure(double ratio) {
  return ratio < 99.95 ? fmt::format("{:.3f}", ratio) : fmt::format("{:.4g}", ratio);
}

std::string ratio_text(const std::optional<double>& ratio) {
  return ratio ? ratio_figure(*ratio) : "-";
}

std::string interval_text(const BenchRatio& row) {
  return row.interval ? fmt::format("{} .. {}", ratio_figure(row.interval->lower),
                                    ratio_figure(row.interval->upper))
                      : "-";
}

/// What all rows of one table have, so that empty columns are left out.
struct Columns {
  bool clock = false;
  bool core = false;
  std::size_t name = 20;
};

Columns columns_of(const Page& page, const std::vector<BenchRatio>& rows) {
  Columns columns;
  for (const BenchRatio& row : rows) {
    columns.clock = columns.clock || row.per_clock.has_value();
    columns.core = columns.core || row.per_core.has_value();
  }
  const std::size_t taken = 2 + 2 * (kFigureWidth + 1) + kRatioWidth + 1 + kIntervalWidth + 1 +
                            (columns.clock ? kRatioWidth + 1 : 0) +
                            (columns.core ? kRatioWidth + 1 : 0) + kWordWidth;
  columns.name = std::max<std::size_t>(page.text_width() - std::min(page.text_width(), taken), 14);
  return columns;
}

std::string left(const std::string& text, std::size_t width) {
  const std::string cut = clip(text, width);
  return cut + std::string(width - std::min(width, display_width(cut)), ' ');
}

void append_row(Page& page, const Columns& columns, const std::string& name,
                const BenchRatio& row) {
  std::string line = fmt::format(
      "  {} {:>{}} {:>{}} {:>{}} {:>{}}", left(page.safe(name), columns.name),
      figure_text(row.unit, row.a), kFigureWidth, figure_text(row.unit, row.b), kFigureWidth,
      ratio_text(row.ratio), kRatioWidth, interval_text(row), kIntervalWidth);
  if (columns.clock) {
    line += fmt::format(" {:>{}}", ratio_text(row.per_clock), kRatioWidth);
  }
  if (columns.core) {
    line += fmt::format(" {:>{}}", ratio_text(row.per_core), kRatioWidth);
  }
  page.line(fmt::format("{}  {}", line, change_word(row)),
            row.reality == Reality::kReal ? Ink::kBold : Ink::kPlain);
}

void append_heading(Page& page, const Columns& columns, std::string_view title) {
  page.line();
  page.line(title, Ink::kBold);
  page.line(
      fmt::format("  {:{}} {:>{}} {:>{}} {:>{}} {:>{}}{}{}", "", columns.name, "A", kFigureWidth,
                  "B", kFigureWidth, "B / A", kRatioWidth, "95 %", kIntervalWidth,
                  columns.clock ? fmt::format(" {:>{}}", "a clock", kRatioWidth) : "",
                  columns.core ? fmt::format(" {:>{}}", "a core", kRatioWidth) : ""),
      Ink::kDim);
}

void append_side(Page& page, std::string_view letter, const BenchSide& side) {
  std::string text = fmt::format("{}  {}", letter, side.device.name);
  if (!side.device.driver.empty()) {
    text += fmt::format(" ({}{}{})", side.device.driver,
                        side.device.driver_info.empty() ? "" : ", ", side.device.driver_info);
  }
  if (!side.started_at.empty()) {
    text += "; " + side.started_at;
  }
  text += side.quick ? "; quick" : "; full";
  if (side.sources.size() > 1) {
    text += fmt::format("; {} runs", side.sources.size());
  }
  std::string separator = "; ";
  for (const std::string& source : side.sources) {
    text += separator + source.substr(source.rfind('/') + 1);
    separator = ", ";
  }
  page.paragraph(page.safe(text), 3);
  if (side.device.simulated) {
    page.line("   SIMULATED: a model of a GPU made its figures", Ink::kCaution);
  }
}

void append_changes(Page& page, const BenchComparison& comparison) {
  page.line();
  if (comparison.changes.empty()) {
    page.line("Device, driver and code, as far as it is shown, are the same.");
    return;
  }
  page.line("Not the same, before any figure:", Ink::kBold);
  const std::size_t shown = std::min(comparison.changes.size(), kMostChanges);
  for (std::size_t i = 0; i < shown; ++i) {
    const analysis::BenchChange& change = comparison.changes[i];
    page.paragraph("  " + page.safe(fmt::format("{}: {} -> {}", change.what, change.a, change.b)),
                   4, Ink::kCaution);
  }
  if (shown < comparison.changes.size()) {
    page.line(fmt::format("  {} more; --json has them all", comparison.changes.size() - shown),
              Ink::kCaution);
  }
}

void append_counts(Page& page, const BenchComparison& comparison) {
  std::map<std::string_view, std::size_t> words;
  for (const BenchRatio& row : comparison.series) {
    ++words[change_word(row)];
  }
  std::string text;
  for (const std::string_view word : {"slower", "faster", "larger", "smaller"}) {
    if (words[word] > 0) {
      text += fmt::format("{}{} {}", text.empty() ? "" : ", ", words[word], word);
    }
  }
  page.line();
  page.paragraph(fmt::format("{} series compared: {}{}{} within noise{}.", comparison.series.size(),
                             text.empty() ? "none changed really" : text, ", ", words["noise"],
                             words["?"] > 0 ? fmt::format(", {} cannot be told", words["?"]) : ""),
                 0, Ink::kBold);
}

bool is_told(const BenchRatio& row) {
  return row.interval || std::abs(std::log(row.ratio.value_or(1))) > kWorthTelling;
}

void append_tables(Page& page, const std::vector<BenchRatio>& all, std::string_view what) {
  std::vector<BenchRatio> rows;
  std::ranges::copy_if(all, std::back_inserter(rows), is_told);
  const Columns columns = columns_of(page, rows);
  std::string test;
  for (const BenchRatio& row : rows) {
    if (row.test != test) {
      test = row.test;
      const std::string title =
          what.empty() ? fmt::format("{}{}{}", test, row.unit.empty() ? "" : ", ", row.unit)
                       : fmt::format("{} {}", test, what);
      append_heading(page, columns, page.safe(title));
    }
    std::string name = row.name.empty() ? "all" : row.name;
    if (!what.empty() && !row.unit.empty() && row.unit != "B") {
      name += ", " + row.unit;
    }
    append_row(page, columns, name, row);
  }
}

void append_points(Page& page, const BenchComparison& comparison) {
  std::vector<BenchRatio> changed;
  std::ranges::copy_if(comparison.points, std::back_inserter(changed),
                       [](const BenchRatio& row) { return row.reality == Reality::kReal; });
  // Equal ones stay in the order of their axis, whatever their last bits say.
  std::ranges::stable_sort(changed, std::ranges::greater(), [](const BenchRatio& row) {
    return std::round(1e9 * std::abs(std::log(row.ratio.value_or(1))));
  });
  const std::size_t all = changed.size();
  if (all == 0) {
    return;
  }
  changed.resize(std::min(all, kMostPoints));
  const Columns columns = columns_of(page, changed);
  append_heading(page, columns, "Points that changed most");
  std::string told;
  for (const BenchRatio& row : changed) {
    const std::string of = row.name.empty() ? row.test : row.test + "/" + row.name;
    if (of != told) {
      page.line("  " + page.safe(of), Ink::kDim);
      told = of;
    }
    append_row(page, columns, axis_text(row.axis_unit, row.x.value_or(0)), row);
  }
  if (all > changed.size()) {
    page.line(fmt::format("  {} more; --json has them all", all - changed.size()), Ink::kDim);
  }
}

void append_missing(Page& page, std::string_view side, const std::vector<std::string>& tests) {
  if (!tests.empty()) {
    page.paragraph(page.safe(fmt::format("Only in {}: {}", side, fmt::join(tests, ", "))), 2,
                   Ink::kDim);
  }
}

void append_published(Page& page, const analysis::BesidePublished& row, std::size_t name_width) {
  const std::string unit = row.published.unit == "B" ? "" : row.published.unit;
  std::string line = fmt::format(
      "  {} {:>10} {:>10} {:>7}  {}", left(page.safe(row.published.what), name_width),
      figure_text(row.published.unit, row.measured),
      figure_text(row.published.unit, row.published.value), ratio_text(row.ratio), page.safe(unit));
  line.erase(line.find_last_not_of(' ') + 1);
  page.line(line);
  std::string source = row.published.source;
  if (row.lower && row.upper) {
    source += fmt::format("; A {} .. {}", figure_text(row.published.unit, row.lower),
                          figure_text(row.published.unit, row.upper));
  }
  page.paragraph("    " + page.safe(source), 4, Ink::kDim);
}

}  // namespace

std::string_view change_word(const BenchRatio& row) {
  if (row.reality != Reality::kReal) {
    return row.reality == Reality::kWithinNoise ? "noise" : "?";
  }
  const bool more = row.ratio.value_or(1) > 1;
  if (row.less_is_better || row.is_rate) {
    return more == row.is_rate ? "faster" : "slower";
  }
  return more ? "larger" : "smaller";
}

std::string render_bench_comparison_text(const ComparedBenches& compared,
                                         const TextOptions& options) {
  Page page(options);
  const BenchComparison& comparison = compared.comparison;
  append_side(page, "A", compared.a);
  append_side(page, "B", compared.b);
  append_changes(page, comparison);
  for (const std::string& caution : comparison.cautions) {
    page.paragraph(page.safe("! " + caution), 2, Ink::kCaution);
  }
  append_counts(page, comparison);
  append_tables(page, comparison.series, "");
  append_tables(page, comparison.derived, "inferred");
  append_points(page, comparison);
  page.line();
  append_missing(page, "A", comparison.only_in_a);
  append_missing(page, "B", comparison.only_in_b);
  const bool repeated = compared.a.sources.size() + compared.b.sources.size() > 2;
  page.paragraph(
      repeated ? "Series: geometric means over the points that all runs have. Intervals come from "
                 "how much the runs of a side differ."
               : "Series: geometric means over the points that both runs have. What differs from "
                 "one run to the next is in no single run: give several of each side, A1,A2 B1,B2, "
                 "to be told of smaller changes.",
      0, Ink::kDim);
  for (const std::string& failure : compared.failures) {
    page.paragraph(page.safe("--fail-on " + failure), 2, Ink::kBold);
  }
  return page.take();
}

std::string render_published_text(const ComparedToPublished& compared, const TextOptions& options) {
  Page page(options);
  append_side(page, "A", compared.a);
  page.paragraph(page.safe("B  " + compared.gpu + ": as published by others, without intervals"),
                 3);
  std::size_t name_width = 20;
  for (const analysis::BesidePublished& row : compared.rows) {
    name_width = std::max(name_width, display_width(page.safe(row.published.what)));
  }
  name_width = std::min<std::size_t>(name_width, 34);
  page.line();
  page.line(fmt::format("  {} {:>10} {:>10} {:>7}  {}", left("", name_width), "A", "published",
                        "B / A", "unit"),
            Ink::kBold);
  for (const analysis::BesidePublished& row : compared.rows) {
    if (row.ratio) {
      append_published(page, row, name_width);
    }
  }
  page.line();
  page.line("Published, and not measured in the same terms here:", Ink::kBold);
  for (const analysis::BesidePublished& row : compared.rows) {
    if (!row.ratio) {
      page.paragraph(
          page.safe(fmt::format(
              "  {}: {}{} ({}{})", row.published.what,
              figure_text(row.published.unit, row.published.value),
              row.published.unit == "B" || row.published.unit.empty() ? ""
                                                                      : " " + row.published.unit,
              row.published.source, row.why.starts_with("measured in") ? "; " + row.why : "")),
          4, Ink::kDim);
    }
  }
  return page.take();
}

}  // namespace gputrace::report
