#include "cli/report/svg_label.h"

#include <cmath>
#include <cstddef>
#include <limits>
#include <numbers>

#include "cli/report/terminal_text.h"

namespace gputrace::report {
namespace {

/// Of the 12 px sans-serif text that drawings use.
constexpr double kCharacterWidth = 6.6;
constexpr double kTextRadius = 6.5;
/// From the base line to the middle of the letters.
constexpr double kMiddle = 4;

}  // namespace

std::string escape_xml(std::string_view text) {
  std::string result;
  for (const char c : escape_for_terminal(text, false)) {
    switch (c) {
      case '&':
        result += "&amp;";
        break;
      case '<':
        result += "&lt;";
        break;
      case '>':
        result += "&gt;";
        break;
      case '"':
        result += "&quot;";
        break;
      default:
        result += c;
    }
  }
  return result;
}

LabelPlacer::LabelPlacer(double left, double top, double right, double bottom)
    : left_(left), top_(top), right_(right), bottom_(bottom) {}

double LabelPlacer::width_of(std::string_view text) {
  return kCharacterWidth * static_cast<double>(display_width(text));
}

std::vector<LabelPlacer::Spot> LabelPlacer::spots_of(std::string_view text,
                                                     const LabelPlace& place) const {
  const double turn = place.degrees * std::numbers::pi / 180;
  std::vector<Spot> spots;
  for (std::size_t letter = 0; letter <= display_width(text); ++letter) {
    const double along = kCharacterWidth * static_cast<double>(letter);
    spots.push_back({place.x + along * std::cos(turn) + kMiddle * std::sin(turn),
                     place.y + along * std::sin(turn) - kMiddle * std::cos(turn), kTextRadius});
  }
  return spots;
}

std::size_t LabelPlacer::meetings(const std::vector<Spot>& spots) const {
  std::size_t count = 0;
  for (const Spot& spot : spots) {
    if (spot.x < left_ || spot.x > right_ || spot.y < top_ || spot.y > bottom_) {
      count += 2;  // cut text is worse than text on text
    }
    for (const Spot& other : taken_) {
      count += std::hypot(spot.x - other.x, spot.y - other.y) < spot.radius + other.radius ? 1 : 0;
    }
  }
  return count;
}

LabelPlace LabelPlacer::place(std::string_view text, const std::vector<LabelPlace>& places) {
  LabelPlace best = places.front();
  std::size_t fewest = std::numeric_limits<std::size_t>::max();
  for (const LabelPlace& place : places) {
    const std::size_t count = meetings(spots_of(text, place));
    if (count < fewest) {
      fewest = count;
      best = place;
    }
    if (count == 0) {
      break;
    }
  }
  const std::vector<Spot> spots = spots_of(text, best);
  taken_.insert(taken_.end(), spots.begin(), spots.end());
  return best;
}

void LabelPlacer::keep_free(double x, double y, double radius) {
  taken_.push_back({x, y, radius});
}

}  // namespace gputrace::report
