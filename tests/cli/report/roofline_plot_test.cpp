#include "cli/report/roofline_plot.h"

#include <doctest/doctest.h>

#include <string>
#include <string_view>

#include "cli/analysis/roofline.h"
#include "cli/report/log_scale.h"
#include "cli/report/svg_label.h"
#include "cli/report/terminal_text.h"
#include "tests/cli/report/sample_roofline.h"
#include "tests/support/golden.h"

namespace gputrace {
namespace {

report::RooflinePlot sample_plot() {
  return {"AMD Radeon 780M (radv, Mesa 24.2.8)", false,
          analysis::make_roofline(test::sample_roofline_run())};
}

std::size_t count(std::string_view text, std::string_view what) {
  std::size_t found = 0;
  for (std::size_t at = text.find(what); at != std::string_view::npos;
       at = text.find(what, at + what.size())) {
    ++found;
  }
  return found;
}

TEST_CASE("a roofline as SVG, wide and narrow") {
  report::RooflinePlot plot = sample_plot();
  test::check_golden("roofline_sample.svg", report::render_roofline_svg(plot, {}));
  plot.simulated = true;
  test::check_golden("roofline_narrow.svg", report::render_roofline_svg(plot, {360, 380}));
}

TEST_CASE("a roofline in a terminal, and in one without UTF-8") {
  const report::RooflinePlot plot = sample_plot();
  test::check_golden("roofline_sample.txt", report::render_roofline_text(plot, {}));
  const std::string ascii = report::render_roofline_text(plot, {.ascii = true, .width = 60});
  test::check_golden("roofline_sample_ascii.txt", ascii);
  for (const char c : ascii) {
    CHECK(static_cast<unsigned char>(c) < 0x80);
  }
}

TEST_CASE("no line of the terminal's roofline is wider than the terminal") {
  for (const std::size_t width : {60U, 80U, 132U}) {
    const std::string text = report::render_roofline_text(sample_plot(), {.width = width});
    std::size_t begin = 0;
    while (begin < text.size()) {
      const std::size_t end = text.find('\n', begin);
      CHECK(report::display_width(text.substr(begin, end - begin)) <= width);
      begin = end + 1;
    }
  }
}

TEST_CASE("a simulated roofline says so in both forms") {
  report::RooflinePlot plot = sample_plot();
  CHECK(report::render_roofline_svg(plot, {}).find("SIMULATED") == std::string::npos);
  CHECK(report::render_roofline_text(plot, {}).find("SIMULATED") == std::string::npos);
  plot.simulated = true;
  CHECK(count(report::render_roofline_svg(plot, {}), "SIMULATED") == 2);
  CHECK(count(report::render_roofline_text(plot, {}), "SIMULATED") == 1);
}

TEST_CASE("without any ceiling there is no drawing, and the text says so") {
  report::RooflinePlot plot;
  plot.title = "a device";
  CHECK(report::render_roofline_svg(plot, {}).empty());
  CHECK(report::render_roofline_text(plot, {}) == "Roofline  not drawn: no ceiling was measured\n");
}

TEST_CASE("one ceiling alone is drawn as far as it goes") {
  report::RooflinePlot only_peak = sample_plot();
  only_peak.roofline.bandwidth.clear();
  only_peak.roofline.ridges.clear();
  const std::string peak_svg = report::render_roofline_svg(only_peak, {});
  CHECK(count(peak_svg, ">fp32 4700 GFLOPS<") == 1);
  CHECK(count(peak_svg, "ridge ") == 0);
  CHECK(peak_svg.find("nan") == std::string::npos);
  CHECK(peak_svg.find("inf") == std::string::npos);
  CHECK(report::render_roofline_text(only_peak, {}).find("4700 GFLOPS") != std::string::npos);

  report::RooflinePlot only_memory = sample_plot();
  only_memory.roofline.compute.clear();
  only_memory.roofline.ridges.clear();
  only_memory.roofline.points.clear();
  const std::string memory_svg = report::render_roofline_svg(only_memory, {});
  CHECK(count(memory_svg, ">DRAM copy 73 GB/s<") == 1);
  CHECK(memory_svg.find("nan") == std::string::npos);
  CHECK(memory_svg.find("inf") == std::string::npos);
  CHECK(report::render_roofline_text(only_memory, {}).find("73 GB/s") != std::string::npos);
}

TEST_CASE("a device name cannot leave its place in the drawing") {
  report::RooflinePlot plot = sample_plot();
  plot.title = "</title><script>alert(1)</script>\x1b[31m&";
  const std::string svg = report::render_roofline_svg(plot, {});
  CHECK(svg.find("<script") == std::string::npos);
  CHECK(svg.find('\x1b') == std::string::npos);
  CHECK(svg.find("&lt;script&gt;") != std::string::npos);
}

TEST_CASE("labels avoid each other while there is room") {
  report::LabelPlacer labels(0, 0, 400, 200);
  const auto first = labels.place("ten letter", {{10, 50, 0}});
  CHECK(first.x == 10);
  const auto second = labels.place("ten letter", {{30, 52, 0}, {10, 90, 0}});
  CHECK(second.y == 90);
  const auto third = labels.place("ten letter", {{380, 120, 0}, {200, 120, 0}});
  CHECK(third.x == 200);
}

TEST_CASE("ticks are round numbers, and thin out where there is no room") {
  const report::LogScale octaves{0.25, 512, 100};
  CHECK(report::octave_ticks(octaves, 12).size() == 12);
  CHECK(report::octave_ticks(octaves, 11).size() == 6);
  CHECK(octaves.at(0.25) == doctest::Approx(0));
  CHECK(octaves.at(512) == doctest::Approx(100));
  CHECK(octaves.value_at(octaves.at(3)) == doctest::Approx(3));
  const report::LogScale decades{20, 5000, 100};
  CHECK(report::decade_ticks(decades, 12).size() == 8);
  CHECK(report::decade_ticks(decades, 5).size() == 2);
}

TEST_CASE("figures keep three digits") {
  CHECK(report::format_three_digits(0.25) == "0.25");
  CHECK(report::format_three_digits(4) == "4");
  CHECK(report::format_three_digits(9.999) == "10");
  CHECK(report::format_three_digits(64.38) == "64.4");
  CHECK(report::format_three_digits(99.97) == "100");
  CHECK(report::format_three_digits(4700.4) == "4700");
  CHECK(report::format_spread(62.02, 66.1) == "62 - 66.1");
}

}  // namespace
}  // namespace gputrace
