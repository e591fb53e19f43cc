// Text in SVG drawings: made harmless, and placed where no other text is.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace gputrace::report {

/// For text and attribute values; what has no place in XML 1.0 is shown as in a terminal.
[[nodiscard]] std::string escape_xml(std::string_view text);

/// A label's left end on its base line, and its direction.
struct LabelPlace {
  double x = 0;
  double y = 0;
  double degrees = 0;  ///< clockwise, as SVG rotates
};

/// Remembers which places are taken. Widths are estimated: no font is at hand.
class LabelPlacer {
 public:
  /// Labels stay within a box with these corners.
  LabelPlacer(double left, double top, double right, double bottom);

  /// The first of the places at which the text meets no other; where all do, the one with the
  /// fewest meetings. That place is then taken. `places` must not be empty.
  LabelPlace place(std::string_view text, const std::vector<LabelPlace>& places);
  /// Keeps a spot free of text: a point, a mark.
  void keep_free(double x, double y, double radius);

  [[nodiscard]] static double width_of(std::string_view text);

 private:
  struct Spot {
    double x = 0;
    double y = 0;
    double radius = 0;
  };
  [[nodiscard]] std::vector<Spot> spots_of(std::string_view text, const LabelPlace& place) const;
  [[nodiscard]] std::size_t meetings(const std::vector<Spot>& spots) const;

  double left_;
  double top_;
  double right_;
  double bottom_;
  std::vector<Spot> taken_;
};

}  // namespace gputrace::report
