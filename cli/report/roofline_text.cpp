#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <string>
#include <vector>

#include "cli/report/log_scale.h"
#include "cli/report/roofline_plot.h"
#include "cli/report/text_format.h"

namespace gputrace::report {
namespace {

constexpr std::size_t kTickWidth = 8;   ///< columns left of the axis
constexpr std::size_t kUnitWidth = 15;  ///< "1024  FLOP/byte" at the end
constexpr std::size_t kRows = 14;
constexpr std::size_t kMostTicks = 8;
/// A line of text holds two half lines, upper and lower.
constexpr int kHalves = 2;

/// Of code page 437 only: consoles and common fonts lack finer ones.
struct PlotGlyphs {
  std::string_view upper = "▀";
  std::string_view lower = "▄";
  std::string_view axis = "│";
  std::string_view corner = "└";
  std::string_view floor = "─";
};
constexpr PlotGlyphs kAsciiGlyphs{"'", ".", "|", "+", "-"};

class Plot {
 public:
  Plot(Page& page, const analysis::Roofline& roofline, bool ascii)
      : page_(page),
        roofline_(roofline),
        glyphs_(ascii ? kAsciiGlyphs : PlotGlyphs{}),
        columns_(page.width() - kTickWidth - 1 - kUnitWidth),
        range_(range_of(roofline)),
        x_{range_.intensity_low, range_.intensity_high, static_cast<double>(columns_ - 1)},
        y_{range_.gflops_low, range_.gflops_high, static_cast<double>(kRows * kHalves)},
        cells_(kRows, std::vector<std::string>(columns_, " ")) {}

  void append() {
    draw_roof();
    draw_points();
    const std::vector<std::string> ticks = row_ticks();
    for (std::size_t row = 0; row < kRows; ++row) {
      std::string text = fmt::format("{:>{}}{}", ticks[row], kTickWidth, glyphs_.axis);
      for (const std::string& cell : cells_[row]) {
        text += cell;
      }
      text.erase(text.find_last_not_of(' ') + 1);
      page_.line(text);
    }
    std::string floor = fmt::format("{:>{}}{}", "GFLOPS ", kTickWidth, glyphs_.corner);
    for (std::size_t i = 0; i < columns_; ++i) {
      floor += glyphs_.floor;
    }
    page_.line(floor);
    page_.line(intensity_ticks());
  }

 private:
  /// Half lines from the bottom; absent outside of the plot.
  [[nodiscard]] std::optional<std::size_t> half_of(double gflops) const {
    const double half = std::floor(y_.at(gflops));
    if (!(half >= 0) || half >= static_cast<double>(kRows * kHalves)) {
      return std::nullopt;
    }
    return static_cast<std::size_t>(half);
  }
  [[nodiscard]] static std::size_t row_of(std::size_t half) { return kRows - 1 - half / kHalves; }

  void draw_roof() {
    const bool has_peak = !roofline_.compute.empty() && roofline_.compute.front().unit == "GFLOPS";
    for (std::size_t column = 0; column < columns_; ++column) {
      const double intensity = x_.value_at(static_cast<double>(column));
      double gflops = has_peak ? roofline_.compute.front().value : range_.gflops_high;
      if (!roofline_.bandwidth.empty()) {
        gflops = std::min(gflops, roofline_.bandwidth.front().value * intensity);
      }
      if (const auto half = half_of(gflops)) {
        cells_[row_of(*half)][column] = *half % kHalves == 1 ? glyphs_.upper : glyphs_.lower;
      }
    }
  }

  void draw_points() {
    for (const analysis::RooflinePoint& point : roofline_.points) {
      const double column = std::round(x_.at(point.intensity));
      const auto half = half_of(point.gflops);
      if (half && column >= 0 && column < static_cast<double>(columns_)) {
        cells_[row_of(*half)][static_cast<std::size_t>(column)] = point.suspect ? "?" : "o";
      }
    }
  }

  [[nodiscard]] std::vector<std::string> row_ticks() const {
    std::vector<std::string> ticks(kRows);
    for (const double tick : decade_ticks(y_, kRows)) {
      if (const auto half = half_of(tick)) {
        ticks[row_of(*half)] = format_three_digits(tick) + " ";
      }
    }
    return ticks;
  }

  [[nodiscard]] std::string intensity_ticks() const {
    std::string text(kTickWidth, ' ');
    for (const double tick : octave_ticks(x_, kMostTicks)) {
      const auto column = static_cast<std::size_t>(std::lround(x_.at(tick))) + kTickWidth + 1;
      if (column > text.size() || text.size() == kTickWidth) {
        text.resize(std::max(column, text.size()), ' ');
        text += format_three_digits(tick);
      }
    }
    return text + "  FLOP/byte";
  }

  Page& page_;
  const analysis::Roofline& roofline_;
  PlotGlyphs glyphs_;
  std::size_t columns_;
  RooflineRange range_;
  LogScale x_;
  LogScale y_;
  std::vector<std::vector<std::string>> cells_;
};

std::string heading(const RooflinePlot& plot) {
  const analysis::Roofline& roofline = plot.roofline;
  std::string text = plot.simulated ? "Roofline  SIMULATED: " : "Roofline  measured: ";
  if (!roofline.bandwidth.empty()) {
    text += fmt::format("{} GB/s ({})", format_three_digits(roofline.bandwidth.front().value),
                        roofline.bandwidth.front().name);
  }
  if (!roofline.compute.empty()) {
    text += fmt::format("{}{} {} ({})", roofline.bandwidth.empty() ? "" : ", ",
                        format_three_digits(roofline.compute.front().value),
                        roofline.compute.front().unit, roofline.compute.front().name);
  }
  if (!roofline.ridges.empty()) {
    text +=
        fmt::format("; ridge {} FLOP/byte", format_three_digits(roofline.ridges.front().intensity));
  }
  return text;
}

void append_ridges(Page& page, const analysis::Roofline& roofline) {
  if (roofline.ridges.empty()) {
    return;
  }
  std::size_t width = 0;
  std::vector<std::string> names;
  for (const analysis::Ridge& ridge : roofline.ridges) {
    names.push_back(page.safe(roofline.compute[ridge.compute].name + " over " +
                              roofline.bandwidth[ridge.bandwidth].name));
    width = std::max(width, names.back().size());
  }
  page.line();
  page.line("Ridges, FLOP/byte", Ink::kBold);
  for (std::size_t i = 0; i < names.size(); ++i) {
    const analysis::Ridge& ridge = roofline.ridges[i];
    page.line(fmt::format(
        "  {:<{}}  {:>7}{}", names[i], width, format_three_digits(ridge.intensity),
        ridge.lower && ridge.upper ? "  " + format_spread(*ridge.lower, *ridge.upper) : ""));
  }
}

}  // namespace

std::string render_roofline_text(const RooflinePlot& plot, const TextOptions& options) {
  Page page(options);
  const bool has_flops =
      std::any_of(plot.roofline.compute.begin(), plot.roofline.compute.end(),
                  [](const analysis::Ceiling& ceiling) { return ceiling.unit == "GFLOPS"; });
  if (!has_flops && plot.roofline.bandwidth.empty()) {
    page.line("Roofline  not drawn: no ceiling was measured");
    return page.take();
  }
  page.paragraph(heading(plot), 10, Ink::kBold);
  Plot(page, plot.roofline, options.ascii).append();
  const auto& points = plot.roofline.points;
  if (!points.empty()) {
    const bool suspects =
        std::any_of(points.begin(), points.end(), [](const auto& point) { return point.suspect; });
    page.line(suspects ? "  o measured  ? suspect: a proof failed" : "  o measured");
  }
  append_ridges(page, plot.roofline);
  return page.take();
}

}  // namespace gputrace::report
