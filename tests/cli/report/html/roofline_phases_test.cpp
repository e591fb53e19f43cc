#include "cli/report/roofline_phases.h"

#include <doctest/doctest.h>

#include <cmath>
#include <string>

#include "cli/report/roofline_plot.h"
#include "tests/cli/report/sample_roofline.h"

namespace gputrace {
namespace {

using analysis::Bottleneck;
using report::PhaseMark;

PhaseMark mark(std::size_t number, Bottleneck bottleneck, double seconds) {
  PhaseMark made;
  made.number = number;
  made.bottleneck = bottleneck;
  made.seconds = seconds;
  return made;
}

PhaseMark placed(std::size_t number, Bottleneck bottleneck, double seconds, double intensity,
                 double gflops) {
  PhaseMark made = mark(number, bottleneck, seconds);
  made.position.intensity = {intensity / 1.2, intensity * 1.2};
  made.position.gflops = analysis::Range{gflops * 0.95, gflops * 1.05};
  return made;
}

std::string drawn(const std::vector<PhaseMark>& marks, double width) {
  report::RooflinePlot plot;
  plot.title = "a device";
  plot.roofline = analysis::make_roofline(test::sample_roofline_run());
  plot.phases = marks;
  return report::render_roofline_svg(
      plot, {.width = width, .height = 420, .in_page = true, .id = "here"});
}

bool has(const std::string& text, std::string_view what) {
  return text.find(what) != std::string::npos;
}

TEST_CASE("one label a class, that of its longest phase, counts the others") {
  const std::vector<PhaseMark> marks{placed(2, Bottleneck::kBandwidth, 100, 2, 140),
                                     placed(5, Bottleneck::kBandwidth, 402, 1.9, 130),
                                     placed(7, Bottleneck::kCompute, 90, 90, 4000)};
  const std::string wide = drawn(marks, 760);
  CHECK(has(wide, ">5 bandwidth, 6:42 (+1 more)<"));
  CHECK(has(wide, ">7 compute, 1:30<"));
  const std::string narrow = drawn(marks, 360);
  CHECK(has(narrow, ">5 B +1<"));
  CHECK(has(narrow, ">7 C<"));
  CHECK(has(narrow, "href=\"#p5\""));
}

TEST_CASE("a phase without intensity has no place, one without bytes stands below the plot") {
  CHECK_FALSE(is_drawn(mark(1, Bottleneck::kBandwidth, 10)));
  PhaseMark intensity_only = mark(2, Bottleneck::kGeometry, 10);
  intensity_only.position.intensity = {6, 16};
  CHECK(is_drawn(intensity_only));
  CHECK(is_in_strip(intensity_only));
  CHECK_FALSE(is_in_strip(placed(3, Bottleneck::kGeometry, 10, 6, 100)));
  PhaseMark waiting = placed(4, Bottleneck::kCpu, 10, 6, 100);
  CHECK_FALSE(is_drawn(waiting));
  CHECK_FALSE(has(drawn({waiting}, 760), "<a class=\"phase"));
  CHECK(has(drawn({intensity_only}, 760), "<a class=\"phase strong\" data-n=\"2\""));
}

TEST_CASE("a position that is known from one side stands at that end") {
  PhaseMark below = mark(1, Bottleneck::kMemory, 10);
  below.position.intensity = {std::nullopt, 6};
  below.position.gbps = analysis::Range{50, 50};
  CHECK(place_of(below).intensity == doctest::Approx(6));
  CHECK(place_of(below).gflops == doctest::Approx(300));
  below.position.intensity = {6, std::nullopt};
  CHECK(place_of(below).intensity == doctest::Approx(6));
  CHECK(is_drawn(below));
}

TEST_CASE("positions outside of the axes or of any sense leave a whole drawing") {
  PhaseMark far = placed(1, Bottleneck::kCompute, 10, 1e9, 1e12);
  PhaseMark tiny = placed(2, Bottleneck::kBandwidth, 10, 1e-9, 1e-6);
  PhaseMark zero = placed(3, Bottleneck::kTexture, 10, 0, 0);
  PhaseMark never = placed(4, Bottleneck::kRaster, 10, std::nan(""), std::nan(""));
  PhaseMark half = placed(5, Bottleneck::kMixed, 10, 3, std::nan(""));
  const std::string svg = drawn({far, tiny, zero, never, half}, 760);
  CHECK_FALSE(has(svg, "nan"));
  CHECK_FALSE(has(svg, "inf\""));
  CHECK(has(svg, "</svg>"));
}

TEST_CASE("a ceiling with an endless name is drawn with the beginning of it") {
  report::RooflinePlot plot;
  plot.roofline = analysis::make_roofline(test::sample_roofline_run());
  plot.roofline.compute.front().name = std::string(4000, 'x');
  plot.roofline.bandwidth.front().name = std::string(4000, 'y');
  for (const double width : {200.0, 360.0, 900.0}) {
    const std::string svg = report::render_roofline_svg(plot, {.width = width, .height = 400});
    CHECK(has(svg, "..."));
    CHECK(has(svg, "</svg>"));
  }
}

}  // namespace
}  // namespace gputrace
