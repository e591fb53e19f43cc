// Writes a made report as a page, for the test in a browser: html_sample KIND FILE.
#include <cstdio>
#include <fstream>
#include <functional>
#include <map>
#include <string>
#include <string_view>

#include "cli/report/bench_html.h"
#include "cli/report/html.h"
#include "tests/cli/report/html/sample_hour.h"
#include "tests/cli/report/sample_curves.h"
#include "tests/cli/report/sample_report.h"

int main(int argc, char** argv) {
  using gputrace::report::Report;
  const std::map<std::string, std::function<Report()>> kinds{
      {"hour", gputrace::test::sample_hour},
      {"day", gputrace::test::sample_day},
      {"second", gputrace::test::sample_second},
      {"unknown", gputrace::test::sample_all_unknown},
      {"import", gputrace::test::sample_import},
      {"hostile", gputrace::test::sample_hostile},
      {"no-phases", gputrace::test::sample_report_with_evidence},
      {"short",
       [] {
         Report report = gputrace::test::sample_second();
         report.phases.clear();
         return report;
       }},
      {"late",  // a GPU that slept at first: the data begin in the middle
       [] {
         Report report = gputrace::test::sample_second();
         report.session.duration_s = 2;
         report.timeline->start_s = 1;
         return report;
       }},
      {"empty", [] { return Report(); }}};
  if (argc == 3 && std::string_view(argv[1]) == "bench") {
    gputrace::analysis::BenchRun run = gputrace::test::sample_curves();
    gputrace::report::RooflinePlot roofline;
    roofline.title = run.device.name;
    roofline.roofline = gputrace::analysis::make_roofline(run);
    std::ofstream(argv[2], std::ios::binary)
        << gputrace::report::render_bench_html(run, roofline, {.version = "0.0.0"});
    return 0;
  }
  const auto kind = argc == 3 ? kinds.find(argv[1]) : kinds.end();
  if (kind == kinds.end()) {
    std::fputs("usage: html_sample KIND FILE\n", stderr);
    return 2;
  }
  std::ofstream(argv[2], std::ios::binary)
      << gputrace::report::render_html(kind->second(), {.version = "0.0.0"});
  return gputrace::report::html_has_plots() ? 0 : 77;  // 77: without uPlot
}
