#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <iterator>
#include <limits>
#include <numbers>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "cli/report/log_scale.h"
#include "cli/report/roofline_phases.h"
#include "cli/report/roofline_plot.h"
#include "cli/report/roofline_space.h"
#include "cli/report/roofline_style.h"
#include "cli/report/svg_label.h"
#include "cli/report/terminal_text.h"

namespace gputrace::report {
namespace {

constexpr double kPointRadius = 3.5;
constexpr double kAboveLine = 6;
constexpr double kLabelHeight = 22;
/// Of a letter of the heading.
constexpr double kHeadWidth = 8;
constexpr double kBadgeWidth = 84;

constexpr std::size_t kWideName = 40;
constexpr std::size_t kNarrowName = 20;
constexpr double kTickBelow = 16;

class Drawing {
 public:
  Drawing(const RooflinePlot& plot, const SvgOptions& options)
      : plot_(plot),
        options_(options),
        space_(plot, options.width, options.height, options.in_page),
        drawn_(space_.drawn),
        frame_(space_.frame),
        labels_(frame_.left + 2, frame_.top + 2, frame_.right - 2,
                space_.has_strip ? frame_.strip_y + 6 : frame_.bottom - 2) {}

  std::string draw() {
    begin();
    draw_grid();
    draw_other_ceilings();
    draw_main_roof();
    draw_points();
    out_ += draw_phases(plot_.phases, frame_, labels_);
    draw_ridges();
    label_points();
    label_ceilings();
    if (!plot_.phases.empty()) {
      keep_roof_free();
    }
    out_ += label_phases(plot_.phases, frame_, labels_);
    out_ += "</svg>\n";
    return std::move(out_);
  }

 private:
  [[nodiscard]] double px(double intensity) const { return space_.px(intensity); }
  [[nodiscard]] double py(double gflops) const { return space_.py(gflops); }

  template <class... Args>
  void add(fmt::format_string<Args...> format, Args&&... args) {
    fmt::format_to(std::back_inserter(out_), format, std::forward<Args>(args)...);
  }

  void line(std::string_view style, double x1, double y1, double x2, double y2) {
    add("<line class=\"{}\" x1=\"{:.1f}\" y1=\"{:.1f}\" x2=\"{:.1f}\" y2=\"{:.1f}\"/>\n", style, x1,
        y1, x2, y2);
  }

  void begin() {
    const std::string title = escape_xml(plot_.title);
    add("<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 {0:.0f} {1:.0f}\" "
        "width=\"{0:.0f}\" height=\"{1:.0f}\" role=\"img\" "
        "aria-labelledby=\"{6}-title {6}-desc\">\n"
        "<title id=\"{6}-title\">Roofline of {2}{3}</title>\n"
        "<desc id=\"{6}-desc\">{4}</desc>\n{5}",
        options_.width, options_.height, title, plot_.simulated ? ", SIMULATED" : "",
        escape_xml(described()), options_.in_page ? std::string_view() : kRooflineStyle,
        options_.id);
    if (options_.in_page) {
      return;
    }
    add("<rect class=\"ground\" width=\"{:.0f}\" height=\"{:.0f}\"/>\n", options_.width,
        options_.height);
    add("<text class=\"head\" x=\"{:.0f}\" y=\"22\">{}</text>\n", frame_.left,
        frame_.narrow ? "Roofline" : escape_xml(clip("Roofline: " + plot_.title, head_letters())));
    if (plot_.simulated) {
      add("<rect class=\"badge\" x=\"{0:.0f}\" y=\"8\" width=\"{2:.0f}\" height=\"19\" rx=\"3\"/>"
          "<text x=\"{1:.0f}\" y=\"22\" text-anchor=\"middle\" font-weight=\"600\" "
          "font-size=\"11\">SIMULATED</text>\n",
          frame_.right - kBadgeWidth, frame_.right - kBadgeWidth / 2, kBadgeWidth);
    }
  }

  [[nodiscard]] std::size_t head_letters() const {
    const double badge = plot_.simulated ? kBadgeWidth + kHeadWidth : 0;
    return static_cast<std::size_t>((frame_.right - frame_.left - badge) / kHeadWidth);
  }

  /// The figures in words, for those who do not see the drawing.
  [[nodiscard]] std::string described() const {
    std::string text;
    for (const auto* ceilings : {&plot_.roofline.compute, &plot_.roofline.bandwidth}) {
      for (const analysis::Ceiling& ceiling : *ceilings) {
        text += fmt::format("{} {} {}. ", ceiling.name, format_three_digits(ceiling.value),
                            ceiling.unit);
      }
    }
    if (!plot_.roofline.ridges.empty()) {
      text += fmt::format("Ridge at {} FLOP/B. ",
                          format_three_digits(plot_.roofline.ridges.front().intensity));
    }
    if (!plot_.roofline.points.empty() || plot_.phases.empty()) {
      text += fmt::format("{} measured points. ", plot_.roofline.points.size());
    }
    if (!plot_.phases.empty()) {
      text += fmt::format("{} phases; the table of phases has their places. ", plot_.phases.size());
    }
    text.pop_back();
    return text;
  }

  void draw_grid() {
    for (const double tick : octave_ticks(frame_.x, frame_.narrow ? 7 : 14)) {
      line("grid", px(tick), frame_.top, px(tick), frame_.bottom);
      add("<text class=\"muted\" x=\"{:.1f}\" y=\"{:.1f}\" text-anchor=\"middle\">{}</text>\n",
          px(tick), frame_.bottom + kTickBelow, format_three_digits(tick));
    }
    for (const double tick : decade_ticks(frame_.y, 12)) {
      line("grid", frame_.left, py(tick), frame_.right, py(tick));
      add("<text class=\"muted\" x=\"{:.1f}\" y=\"{:.1f}\" text-anchor=\"end\">{}</text>\n",
          frame_.left - 7, py(tick) + 4, format_three_digits(tick));
    }
    if (space_.has_strip) {
      const auto steps = static_cast<int>((frame_.right - frame_.left) / (kTickBelow / 2));
      for (int step = 0; step <= steps; ++step) {
        const double x = frame_.left + step * (kTickBelow / 2);
        labels_.keep_free(x, frame_.bottom, 1);
        labels_.keep_free(x, frame_.bottom + kTickBelow - 4, 4);
      }
      add("<text class=\"muted\" x=\"{:.1f}\" y=\"{:.1f}\" text-anchor=\"end\">rate ?</text>\n",
          frame_.left - 7, frame_.strip_y + 4);
    }
    line("axis", frame_.left, frame_.bottom, frame_.right, frame_.bottom);
    line("axis", frame_.left, frame_.top, frame_.left, frame_.bottom);
    add("<text class=\"muted\" x=\"{:.1f}\" y=\"{:.1f}\" text-anchor=\"middle\">arithmetic "
        "intensity, FLOP per byte</text>\n",
        (frame_.left + frame_.right) / 2, options_.height - 9);
    add("<text class=\"muted\" x=\"{:.1f}\" y=\"{:.1f}\">GFLOPS</text>\n", frame_.left - 40,
        frame_.top - 14);
  }

  void draw_other_ceilings() {
    const double roof = space_.highest_gflops();
    for (std::size_t b = 1; b < drawn_.bandwidth.size(); ++b) {
      const double gbps = drawn_.bandwidth[b].value;
      const RooflineSpace::Stretch stretch = space_.diagonal(gbps, roof);
      line("other", px(stretch.from), py(gbps * stretch.from), px(stretch.to),
           py(gbps * stretch.to));
    }
    const double fastest = space_.highest_gbps();
    for (std::size_t c = 1; c < drawn_.compute.size(); ++c) {
      const analysis::Ceiling& ceiling = drawn_.compute[c];
      if (ceiling.unit == "GFLOPS") {
        line("other", px(space_.start_of(ceiling.value, fastest)), py(ceiling.value), frame_.right,
             py(ceiling.value));
      }
    }
  }

  void draw_main_roof() {
    const analysis::Ceiling* compute = space_.main_compute();
    const analysis::Ceiling* bandwidth = space_.main_bandwidth();
    const double infinite = std::numeric_limits<double>::infinity();
    const double gflops = compute != nullptr ? compute->value : infinite;
    const double gbps = bandwidth != nullptr ? bandwidth->value : 0;
    if (compute != nullptr && bandwidth != nullptr && compute->lower && compute->upper &&
        bandwidth->lower && bandwidth->upper) {
      auto around = space_.roof_line(*compute->upper, *bandwidth->upper);
      const auto lower = space_.roof_line(*compute->lower, *bandwidth->lower);
      around.insert(around.end(), lower.rbegin(), lower.rend());
      path("band", around, true);
    }
    path("roof", space_.roof_line(gflops, gbps), false);
  }

  void path(std::string_view style, const std::vector<std::pair<double, double>>& corners,
            bool closed) {
    if (corners.empty()) {
      return;
    }
    add("<path class=\"{}\" d=\"", style);
    for (std::size_t i = 0; i < corners.size(); ++i) {
      add("{}{:.1f} {:.1f}", i == 0 ? "M" : "L", corners[i].first, corners[i].second);
    }
    add("{}\"/>\n", closed ? "Z" : "");
  }

  /// Labels of phases stay off the roof, which they are about.
  void keep_roof_free() {
    const analysis::Ceiling* compute = space_.main_compute();
    const analysis::Ceiling* bandwidth = space_.main_bandwidth();
    const auto corners = space_.roof_line(
        compute != nullptr ? compute->value : std::numeric_limits<double>::infinity(),
        bandwidth != nullptr ? bandwidth->value : 0);
    for (std::size_t i = 0; i + 1 < corners.size(); ++i) {
      const double dx = corners[i + 1].first - corners[i].first;
      const double dy = corners[i + 1].second - corners[i].second;
      const double length = std::hypot(dx, dy);
      const auto steps = static_cast<int>(length / (2 * kPointRadius));
      for (int step = 0; step < steps; ++step) {
        const double along = 2 * kPointRadius * step;
        labels_.keep_free(corners[i].first + dx * along / length,
                          corners[i].second + dy * along / length, 2);
      }
    }
  }

  void draw_points() {
    for (const analysis::RooflinePoint& point : drawn_.points) {
      const double x = px(point.intensity);
      const double y = py(point.gflops);
      if (point.lower && point.upper && py(*point.lower) - py(*point.upper) > 2 * kPointRadius) {
        line("bar", x, std::min(py(*point.lower), frame_.bottom), x,
             std::max(py(*point.upper), frame_.top));
      }
      add("<circle class=\"{}\" cx=\"{:.1f}\" cy=\"{:.1f}\" r=\"{}\"><title>{}: {} FLOP/B, {} "
          "GFLOPS{}</title></circle>\n",
          point.suspect ? "suspect" : "point", x, y, kPointRadius, escape_xml(point.label),
          format_three_digits(point.intensity), format_three_digits(point.gflops),
          point.suspect ? " (suspect)" : "");
      labels_.keep_free(x, y, kPointRadius);
    }
  }

  /// Workloads. A sweep has one name for all of its points.
  void label_points() {
    for (const analysis::RooflinePoint& point : drawn_.points) {
      if (std::ranges::count(drawn_.points, point.label, &analysis::RooflinePoint::label) > 1) {
        continue;
      }
      const double x = px(point.intensity);
      const double y = py(point.gflops);
      const double width = LabelPlacer::width_of(point.label);
      label(point.label, {{x + 6, y + 4, 0},
                          {x - 6 - width, y + 4, 0},
                          {x + 6, y + 16, 0},
                          {x - width / 2, y + 18, 0},
                          {x + 6, y - 8, 0},
                          {x - 6 - width, y + 16, 0},
                          {x - width / 2, y - 10, 0}});
    }
  }

  void draw_ridges() {
    bool first = true;
    for (const analysis::Ridge& ridge : drawn_.ridges) {
      const double x = px(ridge.intensity);
      const double y = py(drawn_.compute[ridge.compute].value);
      if (ridge.intensity < space_.range.intensity_low ||
          ridge.intensity > space_.range.intensity_high) {
        continue;
      }
      if (first) {
        line("ridge", x, y, x, frame_.bottom);
      }
      add("<circle class=\"meet\" cx=\"{:.1f}\" cy=\"{:.1f}\" r=\"3\"/>\n", x, y);
      labels_.keep_free(x, y, 3);
      if (first) {
        const std::string text =
            fmt::format("ridge {} FLOP/B", format_three_digits(ridge.intensity));
        const double width = LabelPlacer::width_of(text);
        label(text, {{x + 7, frame_.bottom - 10, 0},
                     {x - 7 - width, frame_.bottom - 10, 0},
                     {x + 7, frame_.bottom - 40, 0}});
      } else if (ridge.bandwidth == 0 && !frame_.narrow) {
        const std::string text = "ridge " + format_three_digits(ridge.intensity);
        label(text, {{x + 6, y + 16, 0}, {x - 8 - LabelPlacer::width_of(text), y - 7, 0}});
      }
      first = false;
    }
  }

  void label(const std::string& text, const std::vector<LabelPlace>& places) {
    const LabelPlace place = labels_.place(text, places);
    const std::string turn = place.degrees == 0
                                 ? std::string()
                                 : fmt::format(" transform=\"rotate({:.1f} {:.1f} {:.1f})\"",
                                               place.degrees, place.x, place.y);
    add("<text class=\"label\" x=\"{:.1f}\" y=\"{:.1f}\"{}>{}</text>\n", place.x, place.y, turn,
        escape_xml(text));
  }

  void label_ceilings() {
    for (const analysis::Ceiling& ceiling : drawn_.compute) {
      if (ceiling.unit == "GFLOPS") {
        label_flat(ceiling);
      }
    }
    for (const analysis::Ceiling& ceiling : drawn_.bandwidth) {
      label_diagonal(ceiling);
    }
  }

  /// Another line where the label above this one would stand.
  [[nodiscard]] bool has_ceiling_above(double gflops) const {
    return std::any_of(drawn_.compute.begin(), drawn_.compute.end(),
                       [this, gflops](const analysis::Ceiling& other) {
                         const double apart = py(gflops) - py(other.value);
                         return other.unit == "GFLOPS" && apart > 0 && apart < kLabelHeight;
                       });
  }

  /// Names come from files.
  [[nodiscard]] std::string name_of(const analysis::Ceiling& ceiling) const {
    return clip(escape_for_terminal(ceiling.name, false), frame_.narrow ? kNarrowName : kWideName);
  }

  void label_flat(const analysis::Ceiling& ceiling) {
    const std::string name = name_of(ceiling);
    const std::string text = fmt::format("{} {}{}", name, format_three_digits(ceiling.value),
                                         frame_.narrow ? "" : " GFLOPS");
    const double width = LabelPlacer::width_of(text);
    std::vector<LabelPlace> places;
    double right = frame_.right - 8;
    const double above = py(ceiling.value) - kAboveLine;
    const double below = py(ceiling.value) + 16;
    const bool crowded = has_ceiling_above(ceiling.value);
    do {
      places.push_back({right - width, crowded ? below : above, 0});
      places.push_back({right - width, crowded ? above : below, 0});
      right -= width / 2 + 8;
    } while (right - width > frame_.left);
    label(text, places);
  }

  void label_diagonal(const analysis::Ceiling& ceiling) {
    const std::string text =
        fmt::format("{} {} GB/s", name_of(ceiling), format_three_digits(ceiling.value));
    const RooflineSpace::Stretch stretch = space_.diagonal(ceiling.value, space_.highest_gflops());
    const double x1 = px(stretch.from);
    const double y1 = py(ceiling.value * stretch.from);
    const double dx = px(stretch.to) - x1;
    const double dy = py(ceiling.value * stretch.to) - y1;
    const double length = std::hypot(dx, dy);
    const double width = LabelPlacer::width_of(text);
    const double degrees = std::atan2(dy, dx) * 180 / std::numbers::pi;
    std::vector<LabelPlace> places;
    double along = 14;
    do {
      places.push_back({x1 + dx * along / length + kAboveLine * dy / length,
                        y1 + dy * along / length - kAboveLine * dx / length, degrees});
      along += width / 3 + 8;
    } while (along + width < length);
    label(text, places);
  }

  const RooflinePlot& plot_;
  const SvgOptions& options_;
  const RooflineSpace space_;
  const analysis::Roofline& drawn_;
  const PhaseFrame& frame_;
  LabelPlacer labels_;
  std::string out_;
};

}  // namespace

std::string render_roofline_svg(const RooflinePlot& plot, const SvgOptions& options) {
  const auto& compute = plot.roofline.compute;
  const bool has_flops =
      std::any_of(compute.begin(), compute.end(),
                  [](const analysis::Ceiling& ceiling) { return ceiling.unit == "GFLOPS"; });
  if (!has_flops && plot.roofline.bandwidth.empty()) {
    return {};
  }
  return Drawing(plot, options).draw();
}

}  // namespace gputrace::report
