#include "cli/report/bench_html.h"

#include <doctest/doctest.h>

#include <string>
#include <string_view>

#include "tests/cli/report/sample_bench.h"
#include "tests/cli/report/sample_curves.h"

using namespace gputrace;          // NOLINT(google-build-using-namespace)
using namespace gputrace::report;  // NOLINT(google-build-using-namespace)

namespace {

RooflinePlot roofline_of(const analysis::BenchRun& run) {
  RooflinePlot plot;
  plot.title = run.device.name;
  plot.roofline = analysis::make_roofline(run);
  return plot;
}

std::string page_of(const analysis::BenchRun& run) {
  return render_bench_html(run, roofline_of(run), {.version = "0.0.0"});
}

bool contains(const std::string& text, std::string_view part) {
  return text.find(part) != std::string::npos;
}

}  // namespace

TEST_CASE("the page of a bench begins with its answers and ends with how it was measured") {
  const std::string page = page_of(test::sample_curves());
  const std::size_t answer = page.find("vector, level 1: 32 KiB (27.3 KiB .. 39.1 KiB), sure");
  const std::size_t wrong = page.find("Suspect, failed, skipped");
  const std::size_t device = page.find("<h2>Device</h2>");
  const std::size_t table = page.find("<table>");
  REQUIRE(answer != std::string::npos);
  CHECK(answer < wrong);
  CHECK(wrong < device);
  CHECK(device < table);
  CHECK(table < page.find("How this was measured</h2>"));
  CHECK(contains(page, "skipped: the device has no ray queries"));
  CHECK(contains(page, "16 FMA fp32 in the code, 32 in the formula"));
  CHECK(contains(page, "latency: all of them"));
}

TEST_CASE("the page has no script, no address, and stays small") {
  const std::string page = page_of(test::sample_curves());
  CHECK_FALSE(contains(page, "<script"));
  CHECK_FALSE(contains(page, "<link"));
  CHECK_FALSE(contains(page, "url("));
  CHECK_FALSE(contains(page, "src="));
  CHECK(page.size() < 200'000);
  // A full run of everything: sixty tables with 40 places and 6 series each.
  analysis::BenchRun large = test::sample_curves();
  const analysis::TestResult latency = large.tests[1];
  large.tests.clear();
  for (int i = 0; i < 60; ++i) {
    large.tests.push_back(latency);
    large.tests.back().id += std::to_string(i);
    for (analysis::BenchSeries& series : large.tests.back().series) {
      const std::vector<analysis::BenchPoint> points = series.points;
      for (analysis::BenchPoint point : points) {
        point.x *= 1.25;
        series.points.push_back(point);
      }
    }
  }
  CHECK(page_of(large).size() < 1'000'000);
}

TEST_CASE("no string of a run leaves its place in the page") {
  analysis::BenchRun run = test::sample_curves();
  run.tests[1].id = "latency.<script>alert(1)</script>\" onload=\"x";
  run.tests[1].why = "<b>\x1b[2J & so on";
  run.tests[1].series[0].name = "\"><img src=x>";
  run.tests[1].derived[0].by = "</style><p>";
  const std::string page = page_of(run);
  CHECK_FALSE(contains(page, "<script"));
  CHECK_FALSE(contains(page, "<img"));
  CHECK_FALSE(contains(page, "\" onload=\"x"));
  CHECK_FALSE(contains(page, "</style><p>"));
  CHECK_FALSE(contains(page, "\x1b"));
  CHECK_FALSE(contains(page, "<i>\\x1b"));
}

TEST_CASE("a simulated device and a stopped run are said at the top") {
  analysis::BenchRun run = test::sample_bench();
  CHECK_FALSE(contains(page_of(run), "SIMULATED"));
  run.device.simulated = true;
  run.cancelled = true;
  const std::string page = page_of(run);
  CHECK(contains(page, "<title>SIMULATED: "));
  CHECK(page.find("SIMULATED: a model") < page.find("<h1>"));
  CHECK(page.find("STOPPED before its end") < page.find("<h1>"));
  CHECK(contains(page_of(analysis::BenchRun()), "How this was measured"));
}
