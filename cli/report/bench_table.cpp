#include "cli/report/bench_table.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "cli/report/bench_curve_table.h"
#include "cli/report/bench_json.h"
#include "cli/report/bench_plot.h"
#include "cli/report/bench_text.h"

namespace gputrace::report {
namespace {

using analysis::BenchPoint;
using analysis::BenchSeries;
using analysis::TestResult;
using analysis::TestStatus;

constexpr std::size_t kLongAxisName = 12;

std::string figure_or_nothing(const std::optional<double>& value) {
  return value ? format_figure(*value) : std::string();
}

std::string whole_or_nothing(const std::optional<double>& value) {
  return value ? fmt::format("{:.0f}", *value) : std::string();
}

std::string spread_text(const BenchPoint& point) {
  return point.p5 && point.p95 && std::isfinite(*point.p5) && std::isfinite(*point.p95)
             ? fmt::format("{} .. {}", format_figure(*point.p5), format_figure(*point.p95))
             : std::string();
}

/// MHz before and after the point.
std::string clock_text(const BenchPoint& point) {
  std::string before = whole_or_nothing(point.clock_before_mhz);
  const std::string after = whole_or_nothing(point.clock_after_mhz);
  if (after.empty() || before == after) {
    return before;
  }
  return fmt::format("{}>{}", before.empty() ? "?" : before, after);
}

std::string status_text(const BenchPoint& point) {
  std::string text =
      point.status == TestStatus::kOk ? std::string() : std::string(status_name(point.status));
  if (point.drifts) {
    text += text.empty() ? "drifts" : ", drifts";
  }
  return text;
}

/// Cells of one row, in the order of the headings; the last is left-aligned.
using Row = std::vector<std::string>;

Row heading(const TestResult& test) {
  std::string axis = test.axis.size() > kLongAxisName ? test.axis_unit : test.axis;
  if (axis.empty()) {
    axis = "x";
  }
  return {axis, "median", "p5 .. p95", "n", "code", "VGPRs", "waves", "W", "MHz", "status"};
}

Row row_of(const TestResult& test, const BenchPoint& point) {
  return {axis_text(test.axis_unit, point.x),
          point.median ? format_figure(*point.median) : "-",
          spread_text(point),
          point.samples > 0 ? fmt::format("{}", point.samples) : std::string(),
          whole_or_nothing(point.code_bytes),
          whole_or_nothing(point.vgprs),
          figure_or_nothing(point.waves_per_simd),
          point.power_w ? fmt::format("{:.1f}", *point.power_w) : std::string(),
          clock_text(point),
          status_text(point)};
}

/// The first two columns always, others where a point has something to say.
std::vector<std::size_t> widths_of(const std::vector<Row>& rows) {
  std::vector<std::size_t> widths(rows.front().size(), 0);
  for (std::size_t column = 0; column < widths.size(); ++column) {
    const bool used = column < 2 || std::any_of(
                                        rows.begin() + 1, rows.end(),
                                        [&](const Row& row) { return !row[column].empty(); });
    for (const Row& row : rows) {
      widths[column] = used ? std::max(widths[column], display_width(row[column])) : 0;
    }
  }
  return widths;
}

std::string lay_out(const Row& row, const std::vector<std::size_t>& widths,
                    std::string_view between) {
  std::string line;
  for (std::size_t column = 0; column < row.size(); ++column) {
    if (widths[column] == 0) {
      continue;
    }
    const std::string gap(widths[column] - std::min(widths[column], display_width(row[column])),
                          ' ');
    const bool left = column + 1 == row.size();
    line += between;
    line += left ? row[column] : gap + row[column];
  }
  line.erase(line.find_last_not_of(' ') + 1);
  return line;
}

}  // namespace

void append_bench_table(Page& page, const TestResult& test) {
  if (has_curves(test)) {
    append_curve_table(page, test);
    return;
  }
  std::vector<Row> rows{heading(test)};
  for (const BenchSeries& series : test.series) {
    for (const BenchPoint& point : series.points) {
      rows.push_back(row_of(test, point));
    }
  }
  if (rows.size() == 1) {
    return;
  }
  for (Row& row : rows) {
    for (std::string& cell : row) {
      cell = page.safe(cell);
    }
  }
  // The names of series stand before their first row where they are short, else in a line above.
  std::size_t name_width = 0;
  std::size_t most_points = 0;
  for (const BenchSeries& series : test.series) {
    name_width = std::max(name_width, display_width(page.safe(series.name)));
    most_points = std::max(most_points, series.points.size());
  }
  constexpr std::size_t kFewPoints = 3;
  const bool names_in_rows = most_points <= kFewPoints && name_width > 0;
  const std::vector<std::size_t> widths = widths_of(rows);
  // Two spaces between columns, one where the page is too narrow.
  std::size_t total = names_in_rows ? name_width + 2 : 2;
  for (const std::size_t width : widths) {
    total += width == 0 ? 0 : width + 2;
  }
  const std::string_view between = total > page.width() ? " " : "  ";
  const auto row_line = [&](const std::string& name, const Row& row) {
    const std::string lead = names_in_rows ? name : std::string();
    const std::string gap(names_in_rows ? name_width - display_width(lead) : 0, ' ');
    return "  " + lead + gap + lay_out(row, widths, between);
  };
  page.line(row_line("", rows.front()), Ink::kDim);
  std::size_t next = 1;
  std::string told;
  for (const BenchSeries& series : test.series) {
    const std::string name = page.safe(series.name);
    if (!names_in_rows && !name.empty() && !series.points.empty()) {
      page.line("  " + name);
    }
    for (const BenchPoint& point : series.points) {
      page.line(row_line(&point == series.points.data() ? name : "", rows[next++]));
      if (!point.why.empty() && point.why != told && point.why != test.why) {
        page.paragraph(page.safe("      " + point.why), 6, Ink::kCaution);
        told = point.why;
      }
    }
  }
}

}  // namespace gputrace::report
