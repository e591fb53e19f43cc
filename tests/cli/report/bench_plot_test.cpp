#include "cli/report/bench_plot.h"

#include <doctest/doctest.h>

#include <sstream>
#include <string>

#include "cli/report/bench_svg.h"
#include "cli/report/bench_text.h"
#include "cli/report/terminal_text.h"
#include "tests/cli/report/sample_bench.h"
#include "tests/cli/report/sample_curves.h"
#include "tests/cli/report/xml_check.h"
#include "tests/support/golden.h"

using namespace gputrace;          // NOLINT(google-build-using-namespace)
using namespace gputrace::report;  // NOLINT(google-build-using-namespace)

namespace {

bool contains(const std::string& text, std::string_view part) {
  return text.find(part) != std::string::npos;
}

const analysis::TestResult& named(const analysis::BenchRun& run, std::string_view id) {
  for (const analysis::TestResult& test : run.tests) {
    if (test.id == id) {
      return test;
    }
  }
  FAIL("no test " << std::string(id));
  return run.tests.front();
}

}  // namespace

TEST_CASE("curves, bars and matrices are told apart") {
  const analysis::BenchRun run = test::sample_curves();
  const BenchPlot latency = bench_plot_of(named(run, "latency.vector"));
  CHECK(latency.kind == PlotKind::kCurves);
  CHECK(latency.log_x);
  CHECK(latency.log_y);
  REQUIRE(latency.series.size() == 2);  // the minimum stands beside its median
  CHECK(latency.series[1].name == "full wave");
  REQUIRE(latency.levels.size() == 3);
  CHECK(latency.levels[0].name == "level 1");
  CHECK(latency.levels[0].lower == 28000);
  CHECK(latency.levels[2].name == "TLB 1 reach");
  CHECK(bench_plot_of(named(run, "alu.fp32")).kind == PlotKind::kBars);
  CHECK(bars_of(bench_plot_of(named(run, "alu.fp32"))).size() == 6);
  CHECK(bench_plot_of(named(run, "c2c.global")).kind == PlotKind::kMatrix);
  CHECK(bench_plot_of(named(run, "rays")).kind == PlotKind::kNone);
  CHECK(render_bench_svg(bench_plot_of(named(run, "rays")), {}).empty());
}

TEST_CASE("failed points and figures that are not finite are not drawn") {
  const BenchPlot plot = bench_plot_of(test::sample_bench().tests[0]);
  REQUIRE(plot.series.size() == 1);
  CHECK(plot.series[0].points.size() == 3);
  CHECK(plot.series[0].points[2].suspect);
}

TEST_CASE("the paths of one kind are drawn together, by their first series") {
  const std::vector<BenchPlot> plots = overview_plots(test::sample_curves());
  REQUIRE(plots.size() == 1);
  CHECK(plots[0].id == "latency");
  REQUIRE(plots[0].series.size() == 2);
  CHECK(plots[0].series[0].name == "vector");
  CHECK(plots[0].series[1].name == "image");
  // Other units make another plot.
  analysis::BenchRun run = test::sample_curves();
  run.tests[2].unit = "share of hops";
  CHECK(overview_plots(run).empty());
}

TEST_CASE("of many series some are drawn, from the first to the last") {
  analysis::TestResult test;
  test.id = "stride.plain";
  test.axis_unit = "B";
  for (int i = 0; i < 20; ++i) {
    analysis::BenchSeries series{std::to_string(16 << i) + " B", {}};
    for (const double x : {4096.0, 65536.0, 1048576.0}) {
      analysis::BenchPoint point;
      point.x = x;
      point.median = i + x / 4096;
      series.points.push_back(point);
    }
    test.series.push_back(series);
  }
  const BenchPlot plot = bench_plot_of(test);
  CHECK(plot.series.size() == kMostPlotSeries);
  CHECK(plot.left_out == 12);
  CHECK(plot.series.front().name == test.series.front().name);
  CHECK(plot.series.back().name == test.series.back().name);
  CHECK(contains(render_bench_svg(plot, {}), "12 more in the table"));
}

TEST_CASE("every drawing is well-formed, has title and description, and says what is simulated") {
  for (const analysis::BenchRun& run : {test::sample_curves(), test::sample_bench()}) {
    std::vector<BenchPlot> plots = overview_plots(run);
    for (const analysis::TestResult& test : run.tests) {
      plots.push_back(bench_plot_of(test));
    }
    for (const BenchPlot& plot : plots) {
      if (plot.kind == PlotKind::kNone) {
        continue;
      }
      CAPTURE(plot.id);
      const std::string svg =
          render_bench_svg(plot, {.in_page = false, .device = run.device.name, .simulated = true});
      CHECK(test::xml_problem(svg) == "");
      CHECK(contains(svg, "<title id="));
      CHECK(contains(svg, "<desc id="));
      CHECK(contains(svg, "SIMULATED"));
      CHECK_FALSE(contains(svg, "nan"));
      CHECK_FALSE(contains(svg, "inf"));
      CHECK_FALSE(contains(svg, "\x1b"));
      const std::string inner =
          render_bench_svg(plot, {.in_page = true, .device = "", .simulated = false});
      CHECK(test::xml_problem(inner) == "");
      CHECK_FALSE(contains(inner, "<style"));
    }
  }
}

TEST_CASE("the drawing of curves looks as agreed") {
  test::check_golden("bench_curves.svg",
                     render_bench_svg(bench_plot_of(named(test::sample_curves(), "latency.vector")),
                                      {.in_page = false, .device = "a GPU", .simulated = false}));
}

TEST_CASE("curves in a terminal look as agreed, in braille and in ASCII") {
  analysis::BenchRun run = test::sample_curves();
  test::check_golden("bench_curves.txt", render_bench_text(run, {}));
  const std::string ascii = render_bench_text(run, {.ascii = true});
  test::check_golden("bench_curves_ascii.txt", ascii);
  for (const char c : ascii) {
    CHECK(static_cast<unsigned char>(c) < 0x80);
  }
  std::istringstream lines(render_bench_text(run, {}));
  for (std::string line; std::getline(lines, line);) {
    CAPTURE(line);
    CHECK(display_width(line) <= 80);
    CHECK_FALSE(line.ends_with(' '));
  }
}

TEST_CASE("colour changes no character of a plot") {
  const std::string plain = render_bench_text(test::sample_curves(), {});
  std::string coloured = render_bench_text(test::sample_curves(), {.colour = true});
  CHECK(coloured != plain);
  for (std::size_t at = coloured.find('\x1b'); at != std::string::npos;
       at = coloured.find('\x1b')) {
    coloured.erase(at, coloured.find('m', at) + 1 - at);
  }
  CHECK(coloured == plain);
}

TEST_CASE("a table of many places shows the powers of two, and what is wrong") {
  analysis::BenchRun run = test::sample_curves();
  analysis::TestResult& test = run.tests[1];
  for (analysis::BenchSeries& series : test.series) {
    std::vector<analysis::BenchPoint> dense;
    for (const analysis::BenchPoint& point : series.points) {
      dense.push_back(point);
      for (const double factor : {1.25, 1.5, 1.75}) {
        dense.push_back(point);
        dense.back().x *= factor;
      }
    }
    series.points = dense;
  }
  test.series[0].points[5].status = analysis::TestStatus::kFailed;
  test.series[0].points[5].why = "it went wrong";
  run.tests = {test};
  const std::string text = render_bench_text(run, {});
  CHECK(contains(text, "places more in --json and --html"));
  CHECK(contains(text, "     10 KiB   failed"));
  CHECK(contains(text, "1 chain 10 KiB: it went wrong"));
  CHECK_FALSE(contains(text, "     12 KiB  "));
}

TEST_CASE("less is better for times alone") {
  CHECK(less_is_better("ns"));
  CHECK(less_is_better("ns a hop"));
  CHECK(less_is_better("clk"));
  CHECK_FALSE(less_is_better("nsomething"));
  CHECK_FALSE(less_is_better("GB/s"));
  CHECK_FALSE(less_is_better(""));
}
