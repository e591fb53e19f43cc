#include <algorithm>
#include <cmath>
#include <numbers>

#include "cli/report/html_page.h"
#include "cli/report/text_format.h"

namespace gputrace::report {
namespace {

/// Shares of the band below which a letter does not fit: 17 px of a wide and of a narrow page.
constexpr double kWideLetter = 1.9;
constexpr double kNarrowLetter = 9;
/// A phase shorter than this share is drawn two pixels wide: it must be seen.
constexpr double kThinnest = 0.23;

struct Tile {
  int size;
  std::string_view shapes;  ///< over the fill, in the ground's colour
};

Tile tile_of(Pattern pattern) {
  switch (pattern) {
    case Pattern::kHorizontal:
      return {5, "<path d=\"M0 1h5\"/>"};
    case Pattern::kDiagonal:
      return {8, "<path d=\"M-2 2L2-2M0 8L8 0M6 10L10 6\"/>"};
    case Pattern::kBackDiagonal:
      return {6, "<path d=\"M-1 5L1 7M0 0L6 6M5-1L7 1\"/>"};
    case Pattern::kDots:
      return {6,
              "<circle class=\"dot\" cx=\"1.5\" cy=\"1.5\" r=\"1\"/>"
              "<circle class=\"dot\" cx=\"4.5\" cy=\"4.5\" r=\"1\"/>"};
    case Pattern::kGrid:
      return {8, "<path d=\"M0 4h8M4 0v8\"/>"};
    case Pattern::kVertical:
      return {4, "<path d=\"M1 0v4\"/>"};
    case Pattern::kCheckerboard:
      return {8,
              "<rect class=\"dot\" width=\"3\" height=\"3\"/>"
              "<rect class=\"dot\" x=\"4\" y=\"4\" width=\"3\" height=\"3\"/>"};
    case Pattern::kCrosshatch:
      return {6, "<path d=\"M0 0L6 6M0 6L6 0\"/>"};
    case Pattern::kSolid:
    case Pattern::kEmpty:
    case Pattern::kHatch:
      break;
  }
  return {6, ""};
}

void add_corners(std::string& path, int corners, double radius, double turn) {
  for (int corner = 0; corner < corners; ++corner) {
    const double angle = turn + 2 * std::numbers::pi * corner / corners;
    path += fmt::format("{}{:.1f} {:.1f}", corner == 0 ? "M" : "L", radius * std::sin(angle),
                        -radius * std::cos(angle));
  }
  path += "Z";
}

std::string star(double radius) {
  std::string path;
  constexpr int kPoints = 10;
  for (int point = 0; point < kPoints; ++point) {
    const double angle = 2 * std::numbers::pi * point / kPoints;
    const double length = point % 2 == 0 ? radius * 1.25 : radius * 0.55;
    path += fmt::format("{}{:.1f} {:.1f}", point == 0 ? "M" : "L", length * std::sin(angle),
                        -length * std::cos(angle));
  }
  return path + "Z";
}

void add_swatch(HtmlPage& page, analysis::Bottleneck bottleneck) {
  page.add(
      "<svg class=\"swatch\" width=\"26\" height=\"14\" aria-hidden=\"true\"><rect x=\".5\" "
      "y=\".5\" width=\"25\" height=\"13\" rx=\"2\" fill=\"url(#p{0})\" class=\"s{0}\"/></svg>",
      class_key(bottleneck));
  if (const std::string path = mark_path(class_style(bottleneck).mark, 5); !path.empty()) {
    page.add(
        "<svg class=\"mark\" width=\"14\" height=\"14\" viewBox=\"-7 -7 14 14\" "
        "aria-hidden=\"true\"><path class=\"c{}\" d=\"{}\"/></svg>",
        class_key(bottleneck), path);
  }
}

}  // namespace

char class_key(analysis::Bottleneck bottleneck) {
  const char letter = class_style(bottleneck).letter;
  return letter == '?' ? 'U' : letter;
}

std::string mark_path(Mark mark, double radius) {
  constexpr double kPi = std::numbers::pi;
  std::string path;
  switch (mark) {
    case Mark::kNone:
      break;
    case Mark::kSquare:
      add_corners(path, 4, radius * 1.2, kPi / 4);
      break;
    case Mark::kDiamond:
      add_corners(path, 4, radius * 1.25, 0);
      break;
    case Mark::kHexagon:
      add_corners(path, 6, radius * 1.15, kPi / 6);
      break;
    case Mark::kTriangleUp:
      add_corners(path, 3, radius * 1.25, 0);
      break;
    case Mark::kTriangleDown:
      add_corners(path, 3, radius * 1.25, kPi);
      break;
    case Mark::kPentagon:
      add_corners(path, 5, radius * 1.15, 0);
      break;
    case Mark::kStar:
      path = star(radius);
      break;
    case Mark::kCircle:
      path =
          fmt::format("M{0:.1f} 0a{1:.1f} {1:.1f} 0 1 1 {2:.1f} 0a{1:.1f} {1:.1f} 0 1 1 {3:.1f} 0Z",
                      -radius, radius, 2 * radius, -2 * radius);
      break;
  }
  return path;
}

std::string class_colours_css() {
  std::string light;
  std::string dark;
  std::string fills;
  for (const analysis::Bottleneck bottleneck : kAllClasses) {
    const ClassStyle& style = class_style(bottleneck);
    const char key = class_key(bottleneck);
    light += fmt::format("--c{}:{};", key, style.light);
    dark += fmt::format("--c{}:{};", key, style.dark);
    fills += style.pattern == Pattern::kEmpty ? fmt::format(".c{}{{fill:var(--ground)}}", key)
                                              : fmt::format(".c{0}{{fill:var(--c{0})}}", key);
    fills += fmt::format(".s{0}{{stroke:var(--c{0})}}\n", key);
  }
  return fmt::format(
      ":root{{--ground:{};{}}}\n"
      "@media screen and (prefers-color-scheme:dark){{:root:not([data-print]){{--ground:{};{}}}}}\n"
      "{}",
      kLightGround, light, kDarkGround, dark, fills);
}

void add_patterns(HtmlPage& page) {
  page.raw("<svg class=\"defs\" width=\"0\" height=\"0\" aria-hidden=\"true\"><defs>\n");
  for (const analysis::Bottleneck bottleneck : kAllClasses) {
    const ClassStyle& style = class_style(bottleneck);
    if (style.pattern == Pattern::kHatch) {
      page.add(
          "<pattern id=\"p{0}\" width=\"6\" height=\"6\" patternUnits=\"userSpaceOnUse\">"
          "<rect class=\"dot\" width=\"6\" height=\"6\"/><path class=\"s{0}\" "
          "d=\"M-1 1L1-1M0 6L6 0M5 7L7 5\"/></pattern>\n",
          class_key(bottleneck));
      continue;
    }
    const Tile tile = tile_of(style.pattern);
    page.add(
        "<pattern id=\"p{0}\" width=\"{1}\" height=\"{1}\" patternUnits=\"userSpaceOnUse\">"
        "<rect class=\"c{0}\" width=\"{1}\" height=\"{1}\"/>{2}</pattern>\n",
        class_key(bottleneck), tile.size, tile.shapes);
  }
  page.raw("</defs></svg>\n");
}

void add_class_bar(HtmlPage& page, const Answer& answer) {
  if (answer.classes.empty()) {
    return;
  }
  page.raw("<svg class=\"bar\" width=\"100%\" height=\"26\" aria-hidden=\"true\">");
  double at = 0;
  for (const ClassTime& time : answer.classes) {
    page.add(
        "<rect class=\"cut\" x=\"{:.3f}%\" width=\"{:.3f}%\" height=\"26\" fill=\"url(#p{})\"/>",
        100 * at, 100 * time.share, class_key(time.bottleneck));
    at += time.share;
  }
  page.raw("</svg>\n<ul class=\"legend\">\n");
  for (const ClassTime& time : answer.classes) {
    page.raw("<li>");
    add_swatch(page, time.bottleneck);
    page.add("<span><b>{}</b> {} {} <i>{} in {}</i></span></li>\n",
             class_style(time.bottleneck).letter, analysis::to_string(time.bottleneck),
             safe(format_percent(time.share)), format_duration(time.seconds), time.phases);
  }
  page.raw("</ul>\n");
}

void add_phase_band(HtmlPage& page, const std::vector<Phase>& phases, const PageSpan& span) {
  page.raw("<svg class=\"phases\" id=\"band\" width=\"100%\" height=\"30\" aria-hidden=\"true\">");
  std::size_t number = 0;
  for (const Phase& phase : phases) {
    ++number;
    const double from = span.percent(phase.start_s);
    const double share = span.percent(phase.end_s) - from;
    const std::string width = share < kThinnest ? std::string("2") : fmt::format("{:.3f}%", share);
    const char letter = class_style(phase.bottleneck).letter;
    page.add(
        "<g data-a=\"{:.3f}\" data-b=\"{:.3f}\" data-n=\"{}\"><title>{} {}, {} - {}</title>"
        "<rect class=\"cut\" x=\"{:.3f}%\" width=\"{}\" height=\"30\" fill=\"url(#p{})\"/>",
        phase.start_s, phase.end_s, number, number, analysis::to_string(phase.bottleneck),
        clock_text(phase.start_s, is_fine(span)), clock_text(phase.end_s, is_fine(span)), from,
        width, class_key(phase.bottleneck));
    page.add("<text class=\"{}\" x=\"{:.3f}%\" y=\"20\">{}</text></g>",
             share >= kNarrowLetter ? ""
             : share >= kWideLetter ? "wide"
                                    : "none",
             from + share / 2, letter);
  }
  page.raw("</svg>");
}

}  // namespace gputrace::report
