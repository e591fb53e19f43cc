#include "cli/report/bench_curve_table.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <limits>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "cli/report/bench_json.h"
#include "cli/report/bench_plot.h"
#include "cli/report/bench_text.h"

namespace gputrace::report {
namespace {

using analysis::BenchPoint;
using analysis::BenchSeries;
using analysis::TestResult;
using analysis::TestStatus;

constexpr std::size_t kLeastCurve = 3;
constexpr std::size_t kMostRows = 20;
constexpr std::size_t kLongestName = 12;
constexpr std::string_view kMinimum = ", minimum";

const BenchPoint* point_at(const BenchSeries& series, double x) {
  const auto found = std::ranges::find(series.points, x, &BenchPoint::x);
  return found == series.points.end() ? nullptr : &*found;
}

std::string cell_text(const BenchPoint* point) {
  if (point == nullptr) {
    return "";
  }
  if (point->status == TestStatus::kFailed || point->status == TestStatus::kSkipped) {
    return std::string(status_name(point->status));
  }
  if (!point->median) {
    return "-";
  }
  return format_figure(*point->median) + (point->status == TestStatus::kSuspect ? "!" : "") +
         (point->drifts ? "~" : "");
}

bool is_wrong(const TestResult& test, double x) {
  return std::ranges::any_of(test.series, [x](const BenchSeries& series) {
    const BenchPoint* point = point_at(series, x);
    return point != nullptr && point->status != TestStatus::kOk;
  });
}

bool is_power_of_two(double x) {
  return x > 0 && std::exp2(std::round(std::log2(x))) == x;
}

/// Of `all`, ascending, those that are shown.
std::vector<double> shown_places(const TestResult& test, const std::vector<double>& all) {
  if (all.size() <= kMostRows) {
    return all;
  }
  std::vector<double> shown;
  const std::size_t step = (all.size() + kMostRows - 1) / kMostRows;
  const bool powers =
      static_cast<std::size_t>(std::ranges::count_if(all, is_power_of_two)) * 8 >= all.size();
  for (std::size_t i = 0; i < all.size(); ++i) {
    const bool kept = powers ? is_power_of_two(all[i]) : i % step == 0;
    if (kept || i == 0 || i + 1 == all.size() || is_wrong(test, all[i])) {
      shown.push_back(all[i]);
    }
  }
  return shown;
}

/// Of one series or of the axis, with its heading.
struct Column {
  std::string name;
  std::vector<std::string> cells;

  [[nodiscard]] std::size_t width() const {
    std::size_t widest = display_width(name);
    for (const std::string& cell : cells) {
      widest = std::max(widest, display_width(cell));
    }
    return widest;
  }
};

std::string right(const std::string& text, std::size_t width) {
  return std::string(width - std::min(width, display_width(text)), ' ') + text;
}

std::string column_name(const Page& page, const std::string& series) {
  if (series.ends_with(kMinimum)) {
    return "least";
  }
  return clip(page.safe(series.empty() ? "median" : series), kLongestName);
}

Column axis_column(const Page& page, const TestResult& test, const std::vector<double>& places) {
  Column column{clip(page.safe(test.axis.empty() ? "x" : test.axis), kLongestName), {}};
  for (const double x : places) {
    column.cells.push_back(axis_text(test.axis_unit, x));
  }
  return column;
}

/// Median, spread and runs of the first series; the medians of the others.
std::vector<Column> value_columns(const Page& page, const TestResult& test,
                                  const std::vector<double>& places) {
  std::vector<Column> columns;
  for (const BenchSeries& series : test.series) {
    Column median{column_name(page, series.name), {}};
    Column spread{"p5 .. p95", {}};
    Column runs{"n", {}};
    for (const double x : places) {
      const BenchPoint* point = point_at(series, x);
      median.cells.push_back(cell_text(point));
      const bool known = point != nullptr && point->p5 && point->p95;
      spread.cells.push_back(
          known ? fmt::format("{} .. {}", format_figure(*point->p5), format_figure(*point->p95))
                : "");
      runs.cells.push_back(point != nullptr && point->median ? fmt::format("{}", point->samples)
                                                             : "");
    }
    columns.push_back(std::move(median));
    if (&series == &test.series.front()) {
      columns.push_back(std::move(spread));
      columns.push_back(std::move(runs));
    }
  }
  return columns;
}

/// As many columns side by side as the page has room for, the axis before each block.
void append_columns(Page& page, const Column& axis, const std::vector<Column>& columns) {
  std::size_t next = 0;
  while (next < columns.size()) {
    std::vector<const Column*> block{&axis};
    std::size_t width = 2 + axis.width();
    do {
      width += 2 + columns[next].width();
      block.push_back(&columns[next++]);
    } while (next < columns.size() && width + 2 + columns[next].width() <= page.text_width());
    const auto line = [&](auto text_of) {
      std::string text;
      for (const Column* column : block) {
        text += "  " + right(text_of(*column), column->width());
      }
      text.erase(text.find_last_not_of(' ') + 1);
      return text;
    };
    page.line(line([](const Column& column) { return column.name; }), Ink::kDim);
    for (std::size_t row = 0; row < axis.cells.size(); ++row) {
      // Series may have points elsewhere: rows without any in this block say nothing.
      const bool any = std::any_of(block.begin() + 1, block.end(), [row](const Column* column) {
        return !column->cells[row].empty();
      });
      if (any) {
        page.line(line([row](const Column& column) { return column.cells[row]; }));
      }
    }
  }
}

/// "5.0 .. 7.5 W": what all points say of something, once.
class Span {
 public:
  void take(const std::optional<double>& value) {
    if (value && std::isfinite(*value)) {
      low_ = std::min(low_, *value);
      high_ = std::max(high_, *value);
    }
  }
  [[nodiscard]] std::string text(std::string_view unit, int digits) const {
    if (low_ > high_) {
      return "";
    }
    const std::string low = fmt::format("{:.{}f}", low_, digits);
    const std::string high = fmt::format("{:.{}f}", high_, digits);
    return low == high ? fmt::format("{} {}", low, unit)
                       : fmt::format("{} .. {} {}", low, high, unit);
  }

 private:
  double low_ = std::numeric_limits<double>::infinity();
  double high_ = -std::numeric_limits<double>::infinity();
};

void append_conditions(Page& page, const TestResult& test) {
  Span power;
  Span clock;
  Span code;
  Span registers;
  for (const BenchSeries& series : test.series) {
    for (const BenchPoint& point : series.points) {
      power.take(point.power_w);
      clock.take(point.clock_before_mhz);
      clock.take(point.clock_after_mhz);
      code.take(point.code_bytes);
      registers.take(point.vgprs);
    }
  }
  std::string text;
  for (const std::string& part : {power.text("W", 1), clock.text("MHz", 0),
                                  code.text("B of code", 0), registers.text("VGPRs", 0)}) {
    if (!part.empty()) {
      text += (text.empty() ? "  " : "; ") + part;
    }
  }
  if (!text.empty()) {
    page.line(text, Ink::kDim);
  }
}

/// Reasons, each once, with the points that have it; and what the marks mean.
void append_remarks(Page& page, const TestResult& test) {
  std::map<std::string, std::vector<std::string>> reasons;
  bool suspect = false;
  bool drifts = false;
  for (const BenchSeries& series : test.series) {
    for (const BenchPoint& point : series.points) {
      suspect = suspect || point.status == TestStatus::kSuspect;
      drifts = drifts || (point.drifts && point.median.has_value());
      if (!point.why.empty() && point.why != test.why) {
        reasons[point.why].push_back(fmt::format("{}{}{}", series.name,
                                                 series.name.empty() ? "" : " ",
                                                 axis_text(test.axis_unit, point.x)));
      }
    }
  }
  for (const auto& [why, places] : reasons) {
    constexpr std::size_t kMostPlaces = 3;
    const std::vector<std::string> some(
        places.begin(),
        places.begin() + static_cast<std::ptrdiff_t>(std::min(places.size(), kMostPlaces)));
    page.paragraph(
        page.safe(fmt::format("  {}{}: {}", fmt::join(some, ", "),
                              places.size() > kMostPlaces
                                  ? fmt::format(" and {} more", places.size() - kMostPlaces)
                                  : "",
                              why)),
        4, Ink::kCaution);
  }
  if (suspect || drifts) {
    page.line(fmt::format("  {}{}{}", suspect ? "! suspect" : "", suspect && drifts ? "; " : "",
                          drifts ? "~ drifts: its runs changed while it was measured" : ""),
              Ink::kDim);
  }
}

}  // namespace

bool has_curves(const TestResult& test) {
  const auto is_curve = [](const BenchSeries& series) {
    return series.points.size() >= kLeastCurve;
  };
  return test.series.size() > 1 && std::ranges::any_of(test.series, is_curve);
}

void append_curve_table(Page& page, const TestResult& test) {
  std::set<double> all;
  for (const BenchSeries& series : test.series) {
    for (const BenchPoint& point : series.points) {
      all.insert(point.x);
    }
  }
  const std::vector<double> shown = shown_places(test, {all.begin(), all.end()});
  append_columns(page, axis_column(page, test, shown), value_columns(page, test, shown));
  if (shown.size() < all.size()) {
    page.line(fmt::format("  {} places more in --json and --html", all.size() - shown.size()),
              Ink::kDim);
  }
  append_conditions(page, test);
  append_remarks(page, test);
}

}  // namespace gputrace::report
