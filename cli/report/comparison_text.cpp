#include "cli/report/comparison_text.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <optional>
#include <set>
#include <string_view>
#include <vector>

#include "cli/report/bench_text.h"
#include "cli/report/text_format.h"

namespace gputrace::report {
namespace {

using analysis::Difference;
using analysis::Reality;

constexpr std::size_t kNameWidth = 21;
constexpr std::size_t kValueWidth = 7;
constexpr std::size_t kIntervalWidth = 17;
constexpr std::size_t kRelativeWidth = 8;

std::string reality_word(const Difference& row) {
  switch (row.reality) {
    case Reality::kReal:
      return "real";
    case Reality::kWithinNoise:
      return "noise";
    case Reality::kCannotTell:
      break;
  }
  return "?";
}

/// In what a value of the unit is shown, and by what it is multiplied for that.
struct Shown {
  std::string_view unit;
  double factor = 1;
};
Shown shown_as(std::string_view unit) {
  if (unit == "bytes") {
    return {"MiB", 1.0 / (1024 * 1024)};
  }
  return unit == "bytes/s" ? Shown{"GB/s", 1e-9} : Shown{unit, 1};
}

/// Busy fractions and shares with one digit behind the point, which their intervals bear.
std::string figure(const Difference& row, double value) {
  return row.unit == "pp" ? fmt::format("{:.1f}", value)
                          : format_figure(shown_as(row.unit).factor * value);
}

std::string signed_figure(const Difference& row, double value) {
  const std::string text = figure(row, std::abs(value));
  const bool is_zero = text.find_first_of("123456789") == std::string::npos;
  return (value < 0 && !is_zero ? "-" : "+") + text;
}

std::string optional_figure(const Difference& row, const std::optional<double>& value) {
  return value ? figure(row, *value) : "-";
}

std::string interval_text(const Difference& row) {
  return row.interval ? signed_figure(row, row.interval->lower) + " .. " +
                            signed_figure(row, row.interval->upper)
                      : "-";
}

std::string relative_text(const Difference& row) {
  return row.relative ? fmt::format("{:+.1f} %", 100 * *row.relative) : "";
}

std::string label_of(const Difference& row) {
  if (row.unit != "pp") {
    return fmt::format("{} {}", row.name, shown_as(row.unit).unit);
  }
  return is_of_engine(row)
             ? row.register_name.substr(row.register_name.find("_SE") + 1) + "." + row.name
             : row.name;
}

void append_row(Page& page, const std::string& label, const Difference& row) {
  page.line(
      fmt::format("  {:<{}} {:>{}} {:>{}} {:>{}} {:>{}}{:>{}}  {}", clip(label, kNameWidth - 1),
                  kNameWidth, optional_figure(row, row.a), kValueWidth, optional_figure(row, row.b),
                  kValueWidth, row.difference ? signed_figure(row, *row.difference) : "-",
                  kValueWidth, interval_text(row), kIntervalWidth,
                  row.unit == "pp" ? "" : relative_text(row), row.unit == "pp" ? 0 : kRelativeWidth,
                  reality_word(row)),
      row.reality == Reality::kReal ? Ink::kBold : Ink::kPlain);
}

void append_heading(Page& page, std::string_view title, bool relative) {
  page.line();
  page.line(fmt::format("{:<{}} {:>{}} {:>{}} {:>{}} {:>{}}{:>{}}", title, kNameWidth + 2, "A",
                        kValueWidth, "B", kValueWidth, "B - A", kValueWidth, "95 %", kIntervalWidth,
                        relative ? "change" : "", relative ? kRelativeWidth : 0),
            Ink::kBold);
}

/// Reasons why rows cannot be judged, each once.
void append_reasons(Page& page, const std::vector<const Difference*>& rows) {
  std::set<std::string> reasons;
  for (const Difference* row : rows) {
    if (!row->why.empty() && row->a && row->b) {
      reasons.insert(row->why);
    }
  }
  for (const std::string& reason : reasons) {
    page.paragraph("  ? " + reason, 4, Ink::kDim);
  }
}

void append_units(Page& page, const std::vector<Difference>& units, bool all) {
  std::vector<const Difference*> shown;
  std::size_t hidden = 0;
  for (const Difference& row : units) {
    if (all || !is_of_engine(row) || row.reality == Reality::kReal) {
      shown.push_back(&row);
    } else {
      ++hidden;
    }
  }
  if (shown.empty() && hidden == 0) {
    return;
  }
  append_heading(page, "Units, busy in %", false);
  for (const Difference* row : shown) {
    append_row(page, page.safe(label_of(*row)), *row);
  }
  append_reasons(page, shown);
  if (hidden > 0) {
    page.paragraph(fmt::format("  {} units of single shader engines do not differ for real; --all "
                               "lists them.",
                               hidden),
                   2, Ink::kDim);
  }
}

void append_quantities(Page& page, const std::vector<Difference>& quantities, bool all) {
  if (quantities.empty()) {
    return;
  }
  append_heading(page, "Sensors and frames", true);
  std::vector<const Difference*> shown;
  std::set<std::string> names;
  for (const Difference& row : quantities) {
    const bool first = std::find(kFirstQuantities.begin(), kFirstQuantities.end(), row.name) !=
                       kFirstQuantities.end();
    if (all || ((first || row.reality == Reality::kReal) && names.insert(row.name).second)) {
      shown.push_back(&row);
      append_row(page, page.safe(label_of(row)), row);
    }
  }
  append_reasons(page, shown);
  if (shown.size() < quantities.size()) {
    page.paragraph(fmt::format("  {} more readings do not differ for real, or repeat these from "
                               "another source; --all lists them.",
                               quantities.size() - shown.size()),
                   2, Ink::kDim);
  }
}

void append_classes(Page& page, const std::vector<Difference>& classes) {
  if (classes.empty()) {
    return;
  }
  append_heading(page, "Limited by, % of time", false);
  std::vector<const Difference*> shown;
  for (const Difference& row : classes) {
    append_row(page, row.name, row);
    shown.push_back(&row);
  }
  append_reasons(page, shown);
}

std::string session_text(const ComparedSession& session) {
  std::string text = session.label ? "\"" + *session.label + "\", " : "";
  text += session.file;
  text += session.gpu.name.empty() ? "" : ", " + session.gpu.name;
  text += session.duration_s ? ", " + format_duration(*session.duration_s) : "";
  return text + (session.gpu.simulated ? ", SIMULATED" : "");
}

void append_side(Page& page, std::string_view name, const std::vector<ComparedSession>& sessions) {
  for (const ComparedSession& session : sessions) {
    page.paragraph(fmt::format("{}  {}", name, page.safe(session_text(session))), 3);
  }
}

bool any_simulated(const ComparisonReport& report) {
  const auto simulated = [](const ComparedSession& session) { return session.gpu.simulated; };
  return std::any_of(report.a.begin(), report.a.end(), simulated) ||
         std::any_of(report.b.begin(), report.b.end(), simulated);
}

}  // namespace

std::string render_comparison_text(const ComparisonReport& report, const TextOptions& options,
                                   bool all) {
  Page page(options);
  if (any_simulated(report)) {
    page.line("SIMULATED: not measured on hardware", Ink::kCaution);
  }
  const std::vector<std::string> words = comparison_words(report);
  for (std::size_t i = 0; i < words.size(); ++i) {
    page.paragraph(page.safe(words[i]), 2, i == 0 ? Ink::kBold : Ink::kPlain);
  }
  page.line();
  append_side(page, "A", report.a);
  append_side(page, "B", report.b);
  append_classes(page, report.comparison.classes);
  append_units(page, report.comparison.units, all);
  append_quantities(page, report.comparison.quantities, all);
  if (!report.warnings.empty()) {
    page.line();
    page.line("Warnings", Ink::kBold);
    for (const Warning& warning : report.warnings) {
      page.paragraph(
          fmt::format("  {} {} [{}]", page.safe(warning.text), warning.hint, warning.code), 4,
          Ink::kCaution);
    }
  }
  for (const analysis::FailVerdict& verdict : report.conditions) {
    page.line();
    page.paragraph(page.safe(verdict.explanation), 2, verdict.failed ? Ink::kCaution : Ink::kPlain);
  }
  return page.take();
}

}  // namespace gputrace::report
