#include "cli/report/bench_svg.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <iterator>
#include <vector>

#include "cli/report/bench_svg_style.h"
#include "cli/report/bench_text.h"
#include "cli/report/log_scale.h"
#include "cli/report/svg_label.h"
#include "cli/report/terminal_text.h"

namespace gputrace::report {
namespace {

constexpr double kWidth = 440;
constexpr double kCurveHeight = 230;
constexpr double kLeft = 56;
constexpr double kRight = 12;
constexpr double kHeadHeight = 46;
constexpr double kBarHeight = 17;
constexpr double kKeyHeight = 17;
constexpr double kBadgeWidth = 80;
constexpr double kLetterWidth = 6.6;
constexpr std::size_t kMostBars = 80;
constexpr std::size_t kMostMatrixFigures = 10;
constexpr std::size_t kHeadLetters = 50;
/// Of the device, smaller; a badge takes some of their room.
constexpr std::size_t kDeviceLetters = 62;
constexpr std::size_t kBadgeLetters = 14;

/// Round numbers from 0 on.
std::vector<double> linear_ticks(const PlotRange& range) {
  constexpr std::array<double, 4> kSteps{1, 2, 5, 10};
  const double size = range.high - range.low;
  const double decade = std::pow(10, std::floor(std::log10(size / 4)));
  double step = 10 * decade;
  for (const double candidate : kSteps) {
    if (size / (candidate * decade) <= 5) {
      step = candidate * decade;
      break;
    }
  }
  std::vector<double> ticks;
  for (double tick = std::ceil(range.low / step) * step; tick <= range.high && ticks.size() < 12;
       tick += step) {
    ticks.push_back(std::abs(tick) < step / 2 ? 0 : tick);
  }
  return ticks;
}

class BenchDrawing {
 public:
  BenchDrawing(const BenchPlot& plot, const BenchSvgOptions& options)
      : plot_(plot), options_(options), top_(options.in_page ? 12 : kHeadHeight) {}

  std::string draw() {
    switch (plot_.kind) {
      case PlotKind::kCurves:
        draw_curves();
        break;
      case PlotKind::kBars:
        draw_bars();
        break;
      case PlotKind::kMatrix:
        draw_matrix();
        break;
      case PlotKind::kNone:
        return "";
    }
    return head() + body_ + "</svg>\n";
  }

 private:
  template <class... Args>
  void add(fmt::format_string<Args...> format, Args&&... args) {
    fmt::format_to(std::back_inserter(body_), format, std::forward<Args>(args)...);
  }

  void text(std::string_view style, double x, double y, std::string_view anchor,
            std::string_view words) {
    add("<text class=\"{}\" x=\"{:.1f}\" y=\"{:.1f}\" text-anchor=\"{}\">{}</text>\n", style, x, y,
        anchor, escape_xml(words));
  }

  void line(std::string_view style, double x1, double y1, double x2, double y2) {
    add("<line class=\"{}\" x1=\"{:.1f}\" y1=\"{:.1f}\" x2=\"{:.1f}\" y2=\"{:.1f}\"/>\n", style, x1,
        y1, x2, y2);
  }

  [[nodiscard]] std::string title() const {
    return fmt::format("{}{}{}{}{}", plot_.id, plot_.y_unit.empty() ? "" : ": ", plot_.y_unit,
                       plot_.x_name.empty() || plot_.kind != PlotKind::kCurves ? "" : " by ",
                       plot_.kind == PlotKind::kCurves ? plot_.x_name : "");
  }

  /// The ends of each curve in words, for those who do not see the drawing.
  [[nodiscard]] std::string described() const {
    std::string words;
    for (const PlotSeries& series : plot_.series) {
      const PlotPoint& first = series.points.front();
      const PlotPoint& last = series.points.back();
      words += fmt::format("{}{}{}", series.name, series.name.empty() ? "" : ": ",
                           format_figure(first.y));
      if (series.points.size() > 1) {
        words += fmt::format(" at {} to {} at {}", axis_text(plot_.x_unit, first.x),
                             format_figure(last.y), axis_text(plot_.x_unit, last.x));
      }
      words += ". ";
    }
    for (const PlotLevel& level : plot_.levels) {
      words += fmt::format("{} {}, {}. ", level.name, format_bytes(level.value), level.confidence);
    }
    words +=
        plot_.left_out > 0 ? fmt::format("{} series more are in the table. ", plot_.left_out) : "";
    return words.substr(0, words.size() - 1);
  }

  [[nodiscard]] std::string head() const {
    const std::string id = escape_xml(plot_.id);
    std::string out = fmt::format(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" class=\"bench\" viewBox=\"0 0 {0:.0f} {1:.0f}\" "
        "width=\"{0:.0f}\" height=\"{1:.0f}\" role=\"img\" aria-labelledby=\"{2}-t {2}-d\">\n"
        "<title id=\"{2}-t\">{3}{4}</title>\n<desc id=\"{2}-d\">{5}</desc>\n",
        kWidth, height_, id, escape_xml(title()), options_.simulated ? ", SIMULATED" : "",
        escape_xml(described()));
    if (options_.in_page) {
      return out;
    }
    out += kBenchPlotStyle;
    out += fmt::format("<rect class=\"ground\" width=\"{:.0f}\" height=\"{:.0f}\"/>\n", kWidth,
                       height_);
    out += fmt::format("<text class=\"head\" x=\"10\" y=\"20\">{}</text>\n",
                       escape_xml(clip(title(), kHeadLetters)));
    out += fmt::format("<text class=\"muted\" x=\"10\" y=\"37\">{}</text>\n",
                       escape_xml(clip(options_.device,
                                       kDeviceLetters - (options_.simulated ? kBadgeLetters : 0))));
    if (options_.simulated) {
      out += fmt::format(
          "<rect class=\"badge\" x=\"{0:.0f}\" y=\"24\" width=\"{2:.0f}\" height=\"18\" "
          "rx=\"3\"/><text x=\"{1:.0f}\" y=\"37\" text-anchor=\"middle\" font-weight=\"600\" "
          "font-size=\"11\">SIMULATED</text>\n",
          kWidth - kRight - kBadgeWidth, kWidth - kRight - kBadgeWidth / 2, kBadgeWidth);
    }
    return out;
  }

  void draw_curves();
  void draw_frame(double bottom);
  void draw_levels(double bottom);
  void draw_series(std::size_t index);
  /// Below the axis; the height that it takes.
  double draw_key(double y);
  void draw_bars();
  void draw_matrix();

  [[nodiscard]] double px(double x) const {
    return kLeft + along(x, xs_, plot_.log_x) * (kWidth - kRight - kLeft);
  }
  [[nodiscard]] double py(double y) const {
    return bottom_ - std::clamp(along(y, ys_, plot_.log_y), 0.0, 1.0) * (bottom_ - top_);
  }

  const BenchPlot& plot_;
  const BenchSvgOptions& options_;
  double top_;
  double bottom_ = 0;
  double height_ = 0;
  PlotRange xs_;
  PlotRange ys_;
  std::string body_;
};

void BenchDrawing::draw_frame(double bottom) {
  std::vector<double> ticks;
  if (plot_.log_x) {
    ticks = octave_ticks({std::exp2(std::ceil(std::log2(xs_.low))), xs_.high, 1}, 7);
  } else {
    ticks = linear_ticks(xs_);
  }
  for (const double tick : ticks) {
    line("grid", px(tick), top_, px(tick), bottom);
    const std::string label = axis_text(plot_.x_unit, tick);
    const double half = LabelPlacer::width_of(label) / 2;
    text("muted", std::min(px(tick), kWidth - 2 - half), bottom + 15, "middle", label);
  }
  for (const double tick :
       plot_.log_y ? decade_ticks({ys_.low, ys_.high, 1}, 8) : linear_ticks(ys_)) {
    line("grid", kLeft, py(tick), kWidth - kRight, py(tick));
    text("muted", kLeft - 6, py(tick) + 4, "end", fmt::format("{:g}", tick));
  }
  line("axis", kLeft, bottom, kWidth - kRight, bottom);
  text("muted", kWidth - kRight, bottom + 31, "end",
       plot_.x_unit.empty() || plot_.x_unit == "B" || plot_.x_name == plot_.x_unit
           ? plot_.x_name
           : fmt::format("{} ({})", plot_.x_name, plot_.x_unit));
  text("muted", 8, bottom + 31, "start", plot_.y_unit);
}

void BenchDrawing::draw_levels(double bottom) {
  double last_end = 0;
  std::size_t row = 0;
  for (const PlotLevel& level : plot_.levels) {
    const double from = std::clamp(px(level.lower), kLeft, kWidth - kRight);
    const double to = std::clamp(px(level.upper), kLeft, kWidth - kRight);
    const double at = px(level.value);
    if (at < kLeft || at > kWidth - kRight) {
      continue;
    }
    add("<rect class=\"level\" x=\"{:.1f}\" y=\"{:.1f}\" width=\"{:.1f}\" height=\"{:.1f}\"/>\n",
        from, top_, std::max(to - from, 1.0), bottom - top_);
    line("levelline", at, top_, at, bottom);
    const std::string name = fmt::format("{} {}", level.name, format_bytes(level.value));
    const double half = kLetterWidth * static_cast<double>(name.size()) / 2;
    const double middle = std::clamp(at, kLeft + half, kWidth - kRight - half);
    row = middle - half < last_end ? (row + 1) % 3 : 0;
    text("leveltext", middle, top_ + 11 + 13 * static_cast<double>(row), "middle", name);
    last_end = middle + half;
  }
}

void BenchDrawing::draw_series(std::size_t index) {
  const PlotSeries& series = plot_.series[index];
  const std::size_t ink = index % kMostPlotSeries;
  if (index == 0 && series.points.size() > 1) {
    std::string forth;
    std::string back;
    for (const PlotPoint& point : series.points) {
      const double x = px(point.x);
      forth += fmt::format("{:.1f},{:.1f} ", x, py(point.high.value_or(point.y)));
      back.insert(0, fmt::format("{:.1f},{:.1f} ", x, py(point.low.value_or(point.y))));
    }
    add("<polygon class=\"spread f{}\" points=\"{}{}\"/>\n", ink, forth, back);
  }
  std::string points;
  for (const PlotPoint& point : series.points) {
    points += fmt::format("{:.1f},{:.1f} ", px(point.x), py(point.y));
  }
  add("<polyline class=\"curve s{}\" points=\"{}\"/>\n", ink, points);
  // Single points would not show; marks on dense curves would hide them.
  constexpr std::size_t kMostMarks = 24;
  for (const PlotPoint& point : series.points) {
    if (point.suspect || series.points.size() <= kMostMarks) {
      add("<circle class=\"{}\" cx=\"{:.1f}\" cy=\"{:.1f}\" r=\"{}\"><title>{}</title></circle>\n",
          point.suspect ? fmt::format("hollow s{}", ink) : fmt::format("f{}", ink), px(point.x),
          py(point.y), point.suspect ? 3 : 2,
          escape_xml(fmt::format("{}{}{}: {} {}{}", series.name, series.name.empty() ? "" : ", ",
                                 axis_text(plot_.x_unit, point.x), format_figure(point.y),
                                 plot_.y_unit, point.suspect ? ", suspect" : "")));
    }
  }
}

double BenchDrawing::draw_key(double y) {
  if (plot_.series.size() < 2) {
    return 0;
  }
  double x = 10;
  double used = kKeyHeight;
  for (std::size_t i = 0; i < plot_.series.size(); ++i) {
    const std::string name = clip(plot_.series[i].name, 30);
    const double needed = 34 + LabelPlacer::width_of(name);
    if (x + needed > kWidth && x > 10) {
      x = 10;
      used += kKeyHeight;
    }
    const double at = y + used - 4;
    line(fmt::format("curve s{}", i % kMostPlotSeries), x, at - 4, x + 22, at - 4);
    text("", x + 27, at, "start", name);
    x += needed + 6;
  }
  if (plot_.left_out > 0) {
    used += kKeyHeight;
    text("muted", 10, y + used - 4, "start", fmt::format("{} more in the table", plot_.left_out));
  }
  return used;
}

void BenchDrawing::draw_curves() {
  xs_ = x_range(plot_);
  ys_ = y_range(plot_);
  bottom_ = top_ + kCurveHeight;
  draw_frame(bottom_);
  draw_levels(bottom_);
  for (std::size_t i = plot_.series.size(); i-- > 0;) {
    draw_series(i);
  }
  height_ = bottom_ + 38;
  height_ += draw_key(height_) + 4;
}

void BenchDrawing::draw_bars() {
  std::vector<PlotBar> bars = bars_of(plot_);
  const std::size_t all = bars.size();
  bars.resize(std::min(all, kMostBars));
  double most = 0;
  std::size_t longest = 0;
  double figure = 0;
  const auto figure_of_bar = [](const PlotBar& bar) {
    return format_figure(bar.point.y) + (bar.point.suspect ? " !" : "");
  };
  for (const PlotBar& bar : bars) {
    figure = std::max(figure, LabelPlacer::width_of(figure_of_bar(bar)));
    most = std::max({most, bar.point.y, bar.point.high.value_or(0)});
    longest = std::max(longest, display_width(clip(bar.name, 28)));
  }
  const double left = 14 + kLetterWidth * static_cast<double>(longest);
  const double width = kWidth - kRight - left - std::max(58.0, figure + 6);
  const auto length = [&](double value) {
    return most > 0 ? std::clamp(value / most, 0.0, 1.0) * width : 0.0;
  };
  double y = top_;
  for (const PlotBar& bar : bars) {
    text("", left - 6, y + 12, "end", clip(bar.name, 28));
    add("<rect class=\"{}\" x=\"{:.1f}\" y=\"{:.1f}\" width=\"{:.1f}\" height=\"{:.0f}\"/>\n",
        bar.point.suspect ? fmt::format("hollow s{}", bar.group) : fmt::format("f{}", bar.group),
        left, y + 2, std::max(length(bar.point.y), 0.5), kBarHeight - 5);
    double end = length(bar.point.y);
    if (bar.point.low && bar.point.high) {
      line("whisker", left + length(*bar.point.low), y + 8, left + length(*bar.point.high), y + 8);
      end = std::max(end, length(*bar.point.high));
    }
    text("muted", left + end + 5, y + 12, "start", figure_of_bar(bar));
    y += kBarHeight;
  }
  text("muted", 8, y + 15, "start", plot_.y_unit);
  if (bars.size() < all) {
    text("muted", kWidth - kRight, y + 15, "end",
         fmt::format("{} more in the table", all - bars.size()));
  }
  height_ = y + 22;
}

void BenchDrawing::draw_matrix() {
  const std::vector<double> places = places_of(plot_);
  ys_ = y_range(plot_);
  std::size_t longest = 0;
  for (const PlotSeries& series : plot_.series) {
    longest = std::max(longest, display_width(clip(series.name, 16)));
  }
  const double left = 14 + kLetterWidth * static_cast<double>(longest);
  const double side = std::min((kWidth - kRight - left) / static_cast<double>(places.size()), 44.0);
  const double row_height = std::min(side, 26.0);
  double y = top_ + 14;
  const auto column = [&](double x) {
    return left + side * static_cast<double>(std::ranges::lower_bound(places, x) - places.begin());
  };
  const std::size_t step = places.size() / 12 + 1;
  for (std::size_t i = 0; i < places.size(); i += step) {
    text("muted", column(places[i]) + side / 2, top_ + 8, "middle",
         axis_text(plot_.x_unit, places[i]));
  }
  for (const PlotSeries& series : plot_.series) {
    if (row_height >= 11 || (&series - plot_.series.data()) % 2 == 0) {
      text("", left - 6, y + row_height / 2 + 4, "end", clip(series.name, 16));
    }
    for (const PlotPoint& point : series.points) {
      const double share = std::clamp(along(point.y, ys_, plot_.log_y), 0.0, 1.0);
      add("<rect class=\"cell\" fill-opacity=\"{:.2f}\" x=\"{:.1f}\" y=\"{:.1f}\" width=\"{:.1f}\" "
          "height=\"{:.1f}\"><title>{}</title></rect>\n",
          0.06 + 0.6 * share, column(point.x), y, side - 1, row_height - 1,
          escape_xml(fmt::format("{}, {}: {} {}", series.name, axis_text(plot_.x_unit, point.x),
                                 format_figure(point.y), plot_.y_unit)));
      if (places.size() <= kMostMatrixFigures) {
        text("halo", column(point.x) + side / 2, y + row_height / 2 + 4, "middle",
             format_three_digits(point.y));
      }
    }
    y += row_height;
  }
  text("muted", 8, y + 16, "start", plot_.y_unit);
  text("muted", kWidth - kRight, y + 16, "end", plot_.x_name);
  height_ = y + 24;
}

}  // namespace

std::string_view bench_plot_style() {
  return kBenchPlotStyle;
}

std::string render_bench_svg(const BenchPlot& plot, const BenchSvgOptions& options) {
  return plot.kind == PlotKind::kNone ? "" : BenchDrawing(plot, options).draw();
}

}  // namespace gputrace::report
