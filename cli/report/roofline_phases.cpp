#include "cli/report/roofline_phases.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <map>
#include <numbers>

#include "cli/report/class_style.h"
#include "cli/report/html_page.h"
#include "cli/report/text_format.h"
#include "cli/report/wording.h"

namespace gputrace::report {
namespace {

constexpr double kLongS = 200;
constexpr double kMiddleS = 60;
/// Of the arrow that stands for an end that is not known.
constexpr double kArrow = 46;
constexpr double kHead = 4;

double radius_of(const PhaseMark& mark) {
  return mark.seconds > kLongS ? 7 : mark.seconds > kMiddleS ? 5.5 : 4;
}

/// 0 where there is no place on a logarithmic axis.
double placeable(const std::optional<double>& value) {
  const double at = value.value_or(0);
  return at > 0 && std::isfinite(at) ? at : 0;
}

/// On a logarithmic axis; of a range with one end that one, 0 without any.
double middle(const analysis::Range& range) {
  const double lower = placeable(range.lower);
  const double upper = placeable(range.upper);
  return lower > 0 && upper > 0 ? std::sqrt(lower * upper) : std::max(lower, upper);
}

/// The longest phase of each class, in the order of kAllClasses, with how many others it stands
/// for.
struct Labelled {
  const PhaseMark* mark = nullptr;
  std::size_t others = 0;
};
std::vector<Labelled> labelled(const std::vector<PhaseMark>& marks) {
  std::vector<Labelled> result;
  for (const analysis::Bottleneck bottleneck : kAllClasses) {
    Labelled one;
    for (const PhaseMark& mark : marks) {
      if (mark.bottleneck != bottleneck || !is_drawn(mark)) {
        continue;
      }
      one.others += one.mark != nullptr ? 1 : 0;
      one.mark = one.mark == nullptr || mark.seconds > one.mark->seconds ? &mark : one.mark;
    }
    if (one.mark != nullptr) {
      result.push_back(one);
    }
  }
  return result;
}

class Layer {
 public:
  explicit Layer(const PhaseFrame& frame) : frame_(frame) {}

  struct Point {
    double x;
    double y;
  };
  [[nodiscard]] Point point_of(const PhaseMark& mark) const {
    const PlotPlace place = place_of(mark);
    return {px(place.intensity), place.gflops > 0 ? py(place.gflops) : frame_.strip_y};
  }

  [[nodiscard]] std::string mark(const PhaseMark& mark, bool strong) const {
    const Point at = point_of(mark);
    const ClassStyle& style = class_style(mark.bottleneck);
    std::string out = fmt::format(
        "<a class=\"phase{}\" data-n=\"{}\" href=\"#p{}\"><title>Phase {}, {}, {}: {}</title>",
        strong ? " strong" : "", mark.number, mark.number, mark.number,
        analysis::to_string(mark.bottleneck), format_duration(mark.seconds),
        escape_xml(position_text(mark.position)));
    append_bars(out, mark, at);
    out += fmt::format(
        "<path class=\"pmark c{}\" transform=\"translate({:.1f} {:.1f})\" d=\"{}\"/></a>\n",
        style.letter, at.x, at.y, mark_path(style.mark, radius_of(mark)));
    return out;
  }

  /// The mark, and the bar where it is strong.
  void keep_free(const PhaseMark& mark, bool strong, LabelPlacer& labels) const {
    const Point at = point_of(mark);
    labels.keep_free(at.x, at.y, radius_of(mark) + 1);
    const double lower = placeable(mark.position.intensity.lower);
    const double upper = placeable(mark.position.intensity.upper);
    if (strong && lower > 0 && upper > 0) {
      const auto steps = static_cast<int>((px(upper) - px(lower)) / (2 * kHead));
      for (int step = 0; step <= steps; ++step) {
        labels.keep_free(px(lower) + 2 * kHead * step, at.y, 2);
      }
    }
  }

  /// At the ends of the bar: the strip has one line.
  [[nodiscard]] std::vector<LabelPlace> places_beside(const PhaseMark& mark, double width) const {
    const Point at = point_of(mark);
    const double lower = placeable(mark.position.intensity.lower);
    const double upper = placeable(mark.position.intensity.upper);
    const double from = lower > 0 ? px(lower) : at.x - kArrow;
    const double to = upper > 0 ? px(upper) : at.x + kArrow;
    const double y = at.y + 4;
    std::vector<LabelPlace> places{{to + 8, y, 0}, {from - 8 - width, y, 0}};
    constexpr int kMorePlaces = 8;
    const double step = (frame_.right - frame_.left - width) / kMorePlaces;
    for (int i = kMorePlaces; i >= 0; --i) {
      places.push_back({frame_.left + step * i, y, 0});
    }
    return places;
  }

 private:
  [[nodiscard]] double px(double intensity) const {
    return std::clamp(frame_.left + frame_.x.at(intensity), frame_.left, frame_.right);
  }
  [[nodiscard]] double py(double gflops) const {
    return std::clamp(frame_.bottom - frame_.y.at(gflops), frame_.top, frame_.bottom);
  }

  void append_bars(std::string& out, const PhaseMark& mark, const Point& at) const {
    const double lower = placeable(mark.position.intensity.lower);
    const double upper = placeable(mark.position.intensity.upper);
    if (lower > 0 && upper > 0) {
      const double from = px(lower);
      const double to = px(upper);
      if (to - from > 2 * radius_of(mark)) {
        out += fmt::format(
            "<path class=\"pbar\" d=\"M{0:.1f} {2:.1f}H{1:.1f}M{0:.1f} "
            "{3:.1f}v{4:.0f}M{1:.1f} {3:.1f}v{4:.0f}\"/>",
            from, to, at.y, at.y - kHead, 2 * kHead);
      }
    } else {
      append_arrow(out, mark, at, upper > 0);
    }
    if (at.y >= frame_.strip_y || !mark.position.gflops) {
      return;
    }
    const double least = placeable(mark.position.gflops->lower);
    const double most = placeable(mark.position.gflops->upper);
    if (least > 0 && most > 0 && py(least) - py(most) > 2 * radius_of(mark)) {
      out += fmt::format("<path class=\"pbar\" d=\"M{:.1f} {:.1f}V{:.1f}\"/>", at.x, py(least),
                         py(most));
    }
  }

  /// Towards the side that is open. Where bytes are known the rate goes with the intensity, along a
  /// line of equal bandwidth.
  void append_arrow(std::string& out, const PhaseMark& mark, const Point& at, bool to_left) const {
    const bool slanted = at.y < frame_.strip_y && mark.position.gbps.has_value();
    const double decade_x = frame_.x.span / std::log(frame_.x.high / frame_.x.low);
    const double decade_y = frame_.y.span / std::log(frame_.y.high / frame_.y.low);
    const double slope = slanted ? decade_y / decade_x : 0;
    const double length = std::hypot(1, slope);
    const double way = to_left ? -1 : 1;
    const double x = way / length;
    const double y = -way * slope / length;
    double reach = kArrow;
    reach = std::min(
        reach, to_left ? (at.x - frame_.left) / std::abs(x) : (frame_.right - at.x) / std::abs(x));
    if (slanted && y != 0) {
      reach = std::min(reach, y > 0 ? (frame_.bottom - at.y) / y : (frame_.top - at.y) / y);
    }
    if (reach < 2 * radius_of(mark)) {
      return;
    }
    const Point end{at.x + reach * x, at.y + reach * y};
    out += fmt::format(
        "<path class=\"pbar\" d=\"M{:.1f} {:.1f}L{:.1f} {:.1f}M{:.1f} {:.1f}L{:.1f} {:.1f}L{:.1f} "
        "{:.1f}\"/>",
        at.x, at.y, end.x, end.y, end.x - kHead * (1.5 * x - y), end.y - kHead * (1.5 * y + x),
        end.x, end.y, end.x - kHead * (1.5 * x + y), end.y - kHead * (1.5 * y - x));
  }

  const PhaseFrame& frame_;
};

std::string label_text(const Labelled& one, bool narrow) {
  const PhaseMark& mark = *one.mark;
  if (narrow) {
    return fmt::format("{} {}{}", mark.number, class_style(mark.bottleneck).letter,
                       one.others > 0 ? fmt::format(" +{}", one.others) : "");
  }
  return fmt::format("{} {}, {}{}", mark.number, analysis::to_string(mark.bottleneck),
                     format_duration(mark.seconds),
                     one.others > 0 ? fmt::format(" (+{} more)", one.others) : "");
}

/// Around the point, near places first; to its right and its left before above and below.
std::vector<LabelPlace> places_around(double x, double y, double width, double radius) {
  constexpr std::array<double, 5> kRadii{4, 14, 28, 46, 70};
  constexpr int kAngles = 16;
  constexpr double kMiddleOfText = 4;
  std::vector<LabelPlace> places;
  for (const double distance : kRadii) {
    for (int step = 0; step < kAngles; ++step) {
      // 0, 180, then the angles between, those below the point first.
      const double angle = 2 * std::numbers::pi * ((step * 7 + 1) % kAngles) / kAngles;
      const double dx = std::cos(angle) * (radius + distance);
      const double dy = std::sin(angle) * (radius + distance);
      places.push_back({dx >= 0 ? x + dx : x + dx - width, y + dy + kMiddleOfText, 0});
    }
  }
  return places;
}

}  // namespace

bool is_in_strip(const PhaseMark& mark) {
  return is_drawn(mark) && place_of(mark).gflops <= 0;
}

bool is_drawn(const PhaseMark& mark) {
  const analysis::Range& range = mark.position.intensity;
  return class_style(mark.bottleneck).mark != Mark::kNone &&
         (placeable(range.upper) > 0 || placeable(range.lower) > 0);
}

PlotPlace place_of(const PhaseMark& mark) {
  PlotPlace place;
  place.intensity = middle(mark.position.intensity);
  if (mark.position.gflops) {
    place.gflops = middle(*mark.position.gflops);
  } else if (mark.position.gbps) {
    place.gflops = middle(*mark.position.gbps) * place.intensity;
  }
  return place;
}

std::string draw_phases(const std::vector<PhaseMark>& marks, const PhaseFrame& frame,
                        LabelPlacer& labels) {
  const Layer layer(frame);
  const std::vector<Labelled> chosen = labelled(marks);
  std::vector<const PhaseMark*> order;
  for (const PhaseMark& mark : marks) {
    if (is_drawn(mark)) {
      order.push_back(&mark);
    }
  }
  std::stable_sort(order.begin(), order.end(), [](const PhaseMark* a, const PhaseMark* b) {
    return a->seconds < b->seconds;  // the longest on top
  });
  std::string out;
  for (const PhaseMark* mark : order) {
    const bool strong = std::any_of(chosen.begin(), chosen.end(),
                                    [mark](const Labelled& one) { return one.mark == mark; });
    out += layer.mark(*mark, strong);
    layer.keep_free(*mark, strong, labels);
  }
  return out;
}

std::string label_phases(const std::vector<PhaseMark>& marks, const PhaseFrame& frame,
                         LabelPlacer& labels) {
  const Layer layer(frame);
  std::string out;
  for (const Labelled& one : labelled(marks)) {
    const std::string text = label_text(one, frame.narrow);
    const auto at = layer.point_of(*one.mark);
    const double width = LabelPlacer::width_of(text);
    const double radius = radius_of(*one.mark);
    std::vector<LabelPlace> places = places_around(at.x, at.y, width, radius);
    if (is_in_strip(*one.mark)) {
      places = layer.places_beside(*one.mark, width);
    }
    const LabelPlace place = labels.place(text, places);
    const double near_x = std::clamp(at.x, place.x, place.x + width);
    const double near_y = std::clamp(at.y, place.y - 9, place.y + 2);
    if (!is_in_strip(*one.mark) && std::hypot(near_x - at.x, near_y - at.y) > radius + 8) {
      out += fmt::format(
          "<line class=\"lead\" x1=\"{:.1f}\" y1=\"{:.1f}\" x2=\"{:.1f}\" "
          "y2=\"{:.1f}\"/>",
          at.x, at.y, near_x, near_y);
    }
    out += fmt::format("<text class=\"label plabel\" x=\"{:.1f}\" y=\"{:.1f}\">{}</text>\n",
                       place.x, place.y, escape_xml(text));
  }
  return out;
}

}  // namespace gputrace::report
