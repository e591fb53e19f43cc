#include "cli/report/bench_plot.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>

#include "cli/report/bench_text.h"

namespace gputrace::report {
namespace {

using analysis::BenchPoint;
using analysis::BenchSeries;
using analysis::TestResult;
using analysis::TestStatus;

constexpr std::size_t kLeastCurve = 3;
constexpr double kLogFrom = 8;  ///< a range of fewer octaves than three is read better as it is

bool is_drawn(const BenchPoint& point) {
  return point.median && std::isfinite(*point.median) && std::isfinite(point.x) &&
         point.status != TestStatus::kFailed && point.status != TestStatus::kSkipped;
}

PlotPoint plot_point(const BenchPoint& point) {
  PlotPoint drawn{.x = point.x,
                  .y = point.median.value_or(0),
                  .low = std::nullopt,
                  .high = std::nullopt,
                  .suspect = point.status == TestStatus::kSuspect};
  if (point.p5 && point.p95 && std::isfinite(*point.p5) && std::isfinite(*point.p95)) {
    drawn.low = point.p5;
    drawn.high = point.p95;
  }
  return drawn;
}

PlotSeries plot_series(const BenchSeries& series) {
  PlotSeries drawn{.name = series.name, .points = {}};
  for (const BenchPoint& point : series.points) {
    if (is_drawn(point)) {
      drawn.points.push_back(plot_point(point));
    }
  }
  std::ranges::stable_sort(drawn.points, {}, &PlotPoint::x);
  return drawn;
}

/// The minimum of each point is that of a series which is drawn.
bool stands_beside(const BenchSeries& series) {
  return series.name.ends_with(", minimum");
}

/// Some from begin to end, so that what is left out lies between others.
void thin_out(BenchPlot& plot) {
  const std::size_t all = plot.series.size();
  if (all <= kMostPlotSeries) {
    return;
  }
  std::vector<PlotSeries> kept;
  kept.reserve(kMostPlotSeries);
  for (std::size_t i = 0; i < kMostPlotSeries; ++i) {
    kept.push_back(std::move(plot.series[i * (all - 1) / (kMostPlotSeries - 1)]));
  }
  plot.series = std::move(kept);
  plot.left_out = all - kMostPlotSeries;
}

struct Extremes {
  double low = std::numeric_limits<double>::infinity();
  double high = -std::numeric_limits<double>::infinity();

  void take(double value) {
    low = std::min(low, value);
    high = std::max(high, value);
  }
  [[nodiscard]] bool spans_octaves() const { return low > 0 && high >= kLogFrom * low; }
};

Extremes extremes_of(const BenchPlot& plot, double PlotPoint::* member) {
  Extremes extremes;
  for (const PlotSeries& series : plot.series) {
    for (const PlotPoint& point : series.points) {
      extremes.take(point.*member);
    }
  }
  return extremes;
}

bool is_size(const analysis::DerivedValue& value) {
  return value.unit == "B" && !value.confidence.empty() && std::isfinite(value.value) &&
         value.value > 0 && (value.what.ends_with("size") || value.what.ends_with("reach"));
}

std::vector<PlotLevel> levels_of(const TestResult& test) {
  std::vector<PlotLevel> levels;
  for (const analysis::DerivedValue& value : test.derived) {
    if (test.axis_unit == "B" && is_size(value) && value.what != "line.size") {
      levels.push_back({.name = level_name(value.what),
                        .value = value.value,
                        .lower = value.lower.value_or(value.value),
                        .upper = value.upper.value_or(value.value),
                        .confidence = value.confidence});
    }
  }
  return levels;
}

bool is_curve(const PlotSeries& series) {
  return series.points.size() >= kLeastCurve;
}

/// Each row is a series, each column a place on the axis, and each pair is there or was left out.
bool is_matrix(const BenchPlot& plot) {
  return kind_of_test(plot.id) == "c2c" && plot.series.size() >= kLeastCurve &&
         std::ranges::any_of(plot.series, is_curve);
}

void choose_scales(BenchPlot& plot) {
  plot.log_x = plot.x_unit == "B" || extremes_of(plot, &PlotPoint::x).spans_octaves();
  plot.log_x = plot.log_x && extremes_of(plot, &PlotPoint::x).low > 0;
  plot.log_y = extremes_of(plot, &PlotPoint::y).spans_octaves();
}

PlotRange widened(const Extremes& extremes, bool logarithmic, double by) {
  if (!(extremes.low <= extremes.high)) {
    return {logarithmic ? 1.0 : 0.0, 2};
  }
  if (logarithmic) {
    const double factor = std::pow(std::max(extremes.high / extremes.low, 2.0), by);
    return {extremes.low / factor, extremes.high * factor};
  }
  const double size = std::max({extremes.high - extremes.low, std::abs(extremes.high) * 1e-3,
                                std::numeric_limits<double>::min()});
  return {extremes.low - by * size, extremes.high + by * size};
}

}  // namespace

BenchPlot bench_plot_of(const TestResult& test) {
  BenchPlot plot;
  plot.id = test.id;
  plot.x_name = test.axis;
  plot.x_unit = test.axis_unit;
  plot.y_unit = test.unit;
  for (const BenchSeries& series : test.series) {
    PlotSeries drawn = plot_series(series);
    if (!stands_beside(series) && !drawn.points.empty()) {
      plot.series.push_back(std::move(drawn));
    }
  }
  if (plot.series.empty()) {
    return plot;
  }
  if (is_matrix(plot)) {
    plot.kind = PlotKind::kMatrix;
    return plot;
  }
  if (!std::ranges::any_of(plot.series, is_curve)) {
    plot.kind = PlotKind::kBars;
    return plot;
  }
  plot.kind = PlotKind::kCurves;
  thin_out(plot);
  plot.levels = levels_of(test);
  choose_scales(plot);
  return plot;
}

std::vector<BenchPlot> overview_plots(const analysis::BenchRun& run) {
  std::vector<BenchPlot> plots;
  for (const TestResult& test : run.tests) {
    BenchPlot own = bench_plot_of(test);
    const std::string_view kind = kind_of_test(test.id);
    if (own.kind != PlotKind::kCurves || kind == test.id || !is_curve(own.series.front())) {
      continue;
    }
    const auto same = [&](const BenchPlot& plot) {
      return plot.id == kind && plot.y_unit == test.unit && plot.x_unit == test.axis_unit &&
             plot.x_name == test.axis;
    };
    auto place = std::find_if(plots.begin(), plots.end(), same);
    if (place == plots.end()) {
      // A second axis of one kind would need a name of its own.
      if (std::ranges::find(plots, kind, &BenchPlot::id) != plots.end()) {
        continue;
      }
      own.id = kind;
      own.left_out = 0;
      own.series.resize(1);
      place = plots.insert(plots.end(), std::move(own));
    } else {
      place->series.push_back(std::move(own.series.front()));
    }
    place->series.back().name = test.id.substr(kind.size() + 1);
  }
  std::erase_if(plots, [](const BenchPlot& plot) { return plot.series.size() < 2; });
  for (BenchPlot& plot : plots) {
    thin_out(plot);
    choose_scales(plot);
  }
  return plots;
}

std::vector<PlotBar> bars_of(const BenchPlot& plot) {
  std::vector<PlotBar> bars;
  for (const PlotSeries& series : plot.series) {
    for (const PlotPoint& point : series.points) {
      std::string name = series.name;
      if (series.points.size() > 1 || name.empty()) {
        name += (name.empty() ? "" : ", ") + axis_text(plot.x_unit, point.x);
      }
      const auto place = static_cast<std::size_t>(&point - series.points.data());
      bars.push_back({std::move(name), std::min(place, kMostPlotSeries - 1), point});
    }
  }
  return bars;
}

std::vector<double> places_of(const BenchPlot& plot) {
  std::vector<double> places;
  for (const PlotSeries& series : plot.series) {
    for (const PlotPoint& point : series.points) {
      places.push_back(point.x);
    }
  }
  std::ranges::sort(places);
  places.erase(std::ranges::unique(places).begin(), places.end());
  return places;
}

PlotRange x_range(const BenchPlot& plot) {
  return widened(extremes_of(plot, &PlotPoint::x), plot.log_x, 0.02);
}

PlotRange y_range(const BenchPlot& plot) {
  Extremes extremes = extremes_of(plot, &PlotPoint::y);
  if (!plot.log_y && extremes.low >= 0) {
    extremes.low = 0;  // so that lengths tell the truth
    PlotRange range = widened(extremes, false, 0.05);
    range.low = 0;
    return range;
  }
  return widened(extremes, plot.log_y, 0.06);
}

double along(double value, const PlotRange& range, bool logarithmic) {
  if (!logarithmic) {
    return (value - range.low) / (range.high - range.low);
  }
  return value > 0 ? std::log(value / range.low) / std::log(range.high / range.low) : 0;
}

std::string_view kind_of_test(std::string_view id) {
  return id.substr(0, id.find('.'));
}

bool less_is_better(std::string_view unit) {
  constexpr std::array<std::string_view, 4> kTimes{"ns", "us", "ms", "clk"};
  return std::ranges::any_of(kTimes, [unit](std::string_view time) {
    return unit == time || (unit.starts_with(time) && unit[time.size()] == ' ');
  });
}

std::string axis_text(std::string_view axis_unit, double x) {
  if (axis_unit == "B") {
    return format_bytes(x);
  }
  constexpr double kMostDigits = 1e6;  // %g has six
  return x >= kMostDigits ? format_figure(x) : fmt::format("{:g}", x);
}

std::string level_name(std::string_view what) {
  std::string name(what);
  if (name.ends_with(".size")) {
    name.resize(name.size() - 5);
  }
  std::ranges::replace(name, '.', ' ');
  for (const std::string_view acronym : {"tlb", "icache"}) {
    if (name.starts_with(acronym)) {
      name.replace(0, acronym.size(), acronym == "tlb" ? "TLB" : "instruction cache");
    }
  }
  return name;
}

}  // namespace gputrace::report
