#include "cli/report/bench_html_table.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "cli/report/bench_curve_table.h"
#include "cli/report/bench_json.h"
#include "cli/report/bench_plot.h"
#include "cli/report/bench_text.h"
#include "cli/report/bench_words.h"

namespace gputrace::report {
namespace {

using analysis::BenchPoint;
using analysis::BenchSeries;
using analysis::TestResult;
using analysis::TestStatus;

std::string median_text(const BenchPoint& point) {
  if (point.status == TestStatus::kFailed || point.status == TestStatus::kSkipped) {
    return std::string(status_name(point.status));
  }
  if (!point.median) {
    return "–";
  }
  return fmt::format("{}{}{}", format_figure(*point.median),
                     point.status == TestStatus::kSuspect ? " !" : "", point.drifts ? " ~" : "");
}

std::string spread_text(const BenchPoint& point) {
  return point.p5 && point.p95
             ? fmt::format("{} – {}", format_figure(*point.p5), format_figure(*point.p95))
             : std::string();
}

std::string whole_text(const std::optional<double>& value) {
  return value && std::isfinite(*value) ? fmt::format("{:.0f}", *value) : std::string();
}

void begin_table(HtmlPage& page, const std::vector<std::string>& headings) {
  page.raw("<details><summary>Table</summary><div class=\"scroll\"><table><thead><tr>");
  for (const std::string& heading : headings) {
    page.add("<th scope=\"col\"{}>{}</th>", &heading == &headings.front() ? "" : " class=\"num\"",
             safe(heading));
  }
  page.raw("</tr></thead><tbody>\n");
}

void add_curves(HtmlPage& page, const TestResult& test) {
  std::vector<std::string> headings{test.axis.empty() ? "x" : test.axis};
  std::set<double> places;
  for (const BenchSeries& series : test.series) {
    headings.push_back(series.name.empty() ? "median" : series.name);
    for (const BenchPoint& point : series.points) {
      places.insert(point.x);
    }
  }
  begin_table(page, headings);
  for (const double x : places) {
    page.add("<tr><th scope=\"row\">{}</th>", safe(axis_text(test.axis_unit, x)));
    for (const BenchSeries& series : test.series) {
      const auto point = std::ranges::find(series.points, x, &BenchPoint::x);
      if (point == series.points.end()) {
        page.raw("<td></td>");
        continue;
      }
      const std::string spread = spread_text(*point);
      page.add("<td class=\"num\">{}{}</td>", safe(median_text(*point)),
               spread.empty() ? "" : fmt::format("<br><i>{}</i>", safe(spread)));
    }
    page.raw("</tr>\n");
  }
}

/// What only some devices and tests have; a column of nothing is left out.
struct Column {
  std::string_view heading;
  std::string (*text)(const BenchPoint& point);
};

constexpr std::array<Column, 4> kColumns{{
    {"code B", [](const BenchPoint& point) { return whole_text(point.code_bytes); }},
    {"VGPRs", [](const BenchPoint& point) { return whole_text(point.vgprs); }},
    {"W",
     [](const BenchPoint& point) {
       return point.power_w ? fmt::format("{:.1f}", *point.power_w) : std::string();
     }},
    {"MHz", [](const BenchPoint& point) { return whole_text(point.clock_after_mhz); }},
}};

void add_points(HtmlPage& page, const TestResult& test) {
  std::vector<std::string> headings{"series", test.axis.empty() ? "x" : test.axis, "median",
                                    "p5 – p95", "n"};
  std::vector<Column> columns;
  for (const Column& column : kColumns) {
    const bool any = std::ranges::any_of(test.series, [&column](const BenchSeries& series) {
      return std::ranges::any_of(series.points, [&column](const BenchPoint& point) {
        return !column.text(point).empty();
      });
    });
    if (any) {
      headings.emplace_back(column.heading);
      columns.push_back(column);
    }
  }
  begin_table(page, headings);
  for (const BenchSeries& series : test.series) {
    for (const BenchPoint& point : series.points) {
      page.add(
          "<tr><th scope=\"row\">{}</th><td class=\"num\">{}</td><td class=\"num\">{}</td><td "
          "class=\"num\">{}</td><td class=\"num\">{}</td>",
          safe(series.name), safe(axis_text(test.axis_unit, point.x)), safe(median_text(point)),
          safe(spread_text(point)), point.samples);
      for (const Column& column : columns) {
        page.add("<td class=\"num\">{}</td>", column.text(point));
      }
      page.raw("</tr>\n");
    }
  }
}

void add_remarks(HtmlPage& page, const TestResult& test) {
  std::set<std::string> told;
  for (const BenchSeries& series : test.series) {
    for (const BenchPoint& point : series.points) {
      if (!point.why.empty() && point.why != test.why && told.insert(point.why).second) {
        page.add("<p>{}{}{}: {}</p>\n", safe(series.name), series.name.empty() ? "" : ", ",
                 safe(axis_text(test.axis_unit, point.x)), safe(point.why));
      }
    }
  }
  for (const analysis::DerivedValue& value : test.derived) {
    if (!is_answer(value)) {
      page.add("<p>{}</p>\n", safe(derived_text(value, true)));
    }
  }
}

}  // namespace

void add_bench_table(HtmlPage& page, const TestResult& test) {
  const bool any = std::ranges::any_of(
      test.series, [](const BenchSeries& series) { return !series.points.empty(); });
  if (!any) {
    return;
  }
  if (has_curves(test)) {
    add_curves(page, test);
  } else {
    add_points(page, test);
  }
  page.raw("</tbody></table></div>\n<p class=\"quiet\">! suspect; ~ drifts</p>\n");
  add_remarks(page, test);
  page.raw("</details>\n");
}

}  // namespace gputrace::report
