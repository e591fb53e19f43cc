// What is drawn of a bench, the same in a terminal, as SVG and in a page: curves over an axis,
// bars, or a matrix of pairs.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "cli/analysis/bench_result.h"

namespace gputrace::report {

enum class PlotKind { kNone, kCurves, kBars, kMatrix };

struct PlotPoint {
  double x = 0;
  double y = 0;
  std::optional<double> low;  ///< p5 and p95, both or none
  std::optional<double> high;
  bool suspect = false;
};

struct PlotSeries {
  std::string name;
  std::vector<PlotPoint> points;  ///< ascending in x, at least one
};

/// An inferred size on the x axis.
struct PlotLevel {
  std::string name;  ///< "level 1"
  double value = 0;
  double lower = 0;  ///< the value itself where no interval is known
  double upper = 0;
  std::string confidence;
};

struct BenchPlot {
  PlotKind kind = PlotKind::kNone;
  std::string id;      ///< "latency.vector", "latency"
  std::string x_name;  ///< "working set"
  std::string x_unit;  ///< "B"
  std::string y_unit;  ///< "ns a hop"
  bool log_x = false;
  bool log_y = false;
  std::vector<PlotSeries> series;
  std::size_t left_out = 0;  ///< series that are in the table alone
  std::vector<PlotLevel> levels;
};

/// More than these cannot be told apart.
inline constexpr std::size_t kMostPlotSeries = 8;

/// Points that failed, and such without a finite median, are not drawn.
[[nodiscard]] BenchPlot bench_plot_of(const analysis::TestResult& test);

/// One for each kind of test that has several curves over one axis, such as the paths of "latency":
/// the first series of each.
[[nodiscard]] std::vector<BenchPlot> overview_plots(const analysis::BenchRun& run);

/// Of a plot of bars; a series with several points gives as many.
struct PlotBar {
  std::string name;
  std::size_t group = 0;  ///< its place in its series: its ink
  PlotPoint point;
};
[[nodiscard]] std::vector<PlotBar> bars_of(const BenchPlot& plot);
/// The places of all series on the x axis, ascending, each once.
[[nodiscard]] std::vector<double> places_of(const BenchPlot& plot);

/// The range of an axis over all points, a little wider than they are.
struct PlotRange {
  double low = 0;
  double high = 1;
};
[[nodiscard]] PlotRange x_range(const BenchPlot& plot);
[[nodiscard]] PlotRange y_range(const BenchPlot& plot);
/// 0 at the low end of the range, 1 at the high one.
[[nodiscard]] double along(double value, const PlotRange& range, bool logarithmic);

/// "latency" of "latency.vector".
[[nodiscard]] std::string_view kind_of_test(std::string_view id);
/// Of a unit of time: less of it is better.
[[nodiscard]] bool less_is_better(std::string_view unit);
/// A place on the test's axis: "64 KiB", "32", "0.25".
[[nodiscard]] std::string axis_text(std::string_view axis_unit, double x);
/// Names of derived values as words: "level 1", "TLB 2 reach".
[[nodiscard]] std::string level_name(std::string_view what);

}  // namespace gputrace::report
