#include "cli/report/render_text.h"

#include <doctest/doctest.h>

#include <algorithm>
#include <regex>
#include <sstream>
#include <string>

#include "cli/report/terminal_text.h"
#include "cli/report/text_format.h"
#include "tests/cli/report/sample_report.h"
#include "tests/support/golden.h"

using namespace gputrace;          // NOLINT(google-build-using-namespace)
using namespace gputrace::report;  // NOLINT(google-build-using-namespace)

namespace {

void check_lines_fit(const std::string& text, std::size_t width) {
  std::istringstream lines(text);
  for (std::string line; std::getline(lines, line);) {
    CAPTURE(line);
    CHECK(display_width(line) <= width);
  }
}

bool contains(const std::string& text, std::string_view part) {
  return text.find(part) != std::string::npos;
}

}  // namespace

TEST_CASE("the text report looks as agreed") {
  test::check_golden("report_sample.txt", render_text(test::sample_report(), {}));
}

TEST_CASE("the ASCII report says the same without a character beyond ASCII") {
  const std::string text = render_text(test::sample_report(), {.colour = false, .ascii = true});
  test::check_golden("report_sample_ascii.txt", text);
  for (const char c : text) {
    REQUIRE(static_cast<unsigned char>(c) < 0x80);
  }
}

TEST_CASE("a report without a valid sample says why and shows no zeros for units") {
  const std::string text = render_text(test::sample_report_without_samples(), {});
  test::check_golden("report_no_samples.txt", text);
  CHECK(contains(text, "No valid sample"));
  CHECK_FALSE(contains(text, "GUI_ACTIVE"));
}

TEST_CASE("no line is wider than the terminal") {
  for (const std::size_t width : {60U, 80U, 100U, 132U}) {
    Report report = test::sample_report();
    for (BandRow& row : report.band.rows) {  // whoever builds a report gives it a band that fits
      row.cells.resize(std::min(row.cells.size(), width - kBandLabelWidth));
    }
    check_lines_fit(render_text(report, {.colour = false, .ascii = false, .width = width}), width);
    check_lines_fit(render_text(report, {.colour = false, .ascii = true, .width = width}), width);
  }
}

TEST_CASE("colour adds escape sequences and changes no character") {
  const std::string plain = render_text(test::sample_report(), {});
  const std::string coloured = render_text(test::sample_report(), {.colour = true});
  CHECK_FALSE(contains(plain, "\x1b"));
  CHECK(contains(coloured, "\x1b["));
  CHECK(std::regex_replace(coloured, std::regex("\x1b\\[[0-9;]*m"), "") == plain);
}

TEST_CASE("the first line says that a GPU was simulated, and with which scenario") {
  Report report = test::sample_report();
  CHECK(render_text(report, {}).rfind("SIMULATED GPU, scenario demo", 0) == 0);
  report.gpu.simulated = false;
  CHECK_FALSE(contains(render_text(report, {}), "SIMULATED"));
}

TEST_CASE("with over 5 % unknown the report opens with that") {
  Report report = test::sample_report();
  report.gpu.simulated = false;
  report.sampling.unknown = 600;
  report.sampling.unknown_reasons = {{"all_ones", 600}};
  CHECK(render_text(report, {}).rfind("6 % of the samples are unknown (all_ones 600)", 0) == 0);
  report.sampling.unknown = 400;
  CHECK(render_text(report, {}).rfind("Cannot tell what limited it.", 0) == 0);
}

TEST_CASE("control characters in strings of the file never reach the terminal") {
  Report report = test::sample_report();
  report.session.label = "a\x1b[2Jb\nc";
  report.session.command = std::vector<std::string>{"x\x07",
                                                    "\xe2\x80\xae"
                                                    "evil",
                                                    "\xff"};
  report.session.file = "/tmp/\xc2\x9bz";
  report.gpu.name = "\x1b]0;title\x07";
  report.gpu.scenario = "\r";
  report.sampling.registers[0].source = "\x1b";
  report.warnings.push_back({"w\x1b", "t\x1b", "h\x1b"});
  report.unknown_registers[0].reason = "\x1b";
  report.segments.resize(1);
  report.segments[0].gpu = "\x1b";
  report.segments[0].reason = "\x1b";
  const std::string text = render_text(report, {});
  CHECK(contains(text, "a\\x1b[2Jb\\x0ac"));
  CHECK_FALSE(contains(text, "\x1b"));
  CHECK_FALSE(contains(text, "\x07"));
  CHECK_FALSE(contains(text, "\r"));
  CHECK_FALSE(contains(text, "\xff"));
  CHECK_FALSE(contains(text, "\xc2\x9b"));
  CHECK_FALSE(contains(text, "\xe2\x80\xae"));
}

TEST_CASE("a unit that was seen busy once has a bar, an idle one is listed with its bound") {
  const std::string text = render_text(test::sample_report(), {.colour = false, .ascii = true});
  CHECK(contains(text, "DB         |-"));
  CHECK(contains(text, "<0.1 %"));
  CHECK(contains(text, "never seen busy (each below 0.1 %): GDS"));
}

TEST_CASE("engines that agree with the whole GPU are one line, others have bars") {
  const std::string text = render_text(test::sample_report(), {});
  CHECK(contains(text, "each shader engine within 3 points of the whole: SPI"));
  CHECK(contains(text, "SE0.TA"));
  CHECK(contains(text, "SE1.TA"));
  CHECK(contains(text, "SE1.GL1CC"));
  CHECK_FALSE(contains(text, "SE0.SPI"));
}

TEST_CASE("units without intervals are shown without, and the report says why") {
  Report report = test::sample_report();
  for (Unit& unit : report.units) {
    unit.ci95.reset();
    unit.ci95_run.reset();
  }
  const std::string text = render_text(report, {});
  CHECK(contains(text, "No intervals"));
  CHECK_FALSE(contains(text, "95 %"));
}

TEST_CASE("a GPU that slept through is asleep, not unknown") {
  Report report = test::sample_report_without_samples();
  report.sampling.unknown = 0;
  report.sampling.unknown_reasons.clear();
  report.sampling.asleep_s = 10;
  report.sampling.asleep_share = 1;
  CHECK(contains(render_text(report, {}), "the GPU was asleep for all of it"));
}

TEST_CASE("percentages keep small apart from zero and nearly all from all") {
  CHECK(format_percent(0) == "0 %");
  CHECK(format_percent(0.0001) == "<0.1 %");
  CHECK(format_percent(0.004) == "0.4 %");
  CHECK(format_percent(0.0096) == "1 %");
  CHECK(format_percent(0.724) == "72 %");
  CHECK(format_percent(0.996) == "99.6 %");
  CHECK(format_percent(0.9999) == ">99.9 %");
  CHECK(format_percent(1) == "100 %");
}

TEST_CASE("intervals are rounded outwards and never have zero width") {
  CHECK(format_interval({0.4449, 0.6601}) == "44 - 67");
  CHECK(format_interval({0.71501, 0.72499}) == "71.5 - 72.5");
  CHECK(format_interval({0.500001, 0.500002}) == "50.0 - 50.1");
  CHECK(format_interval({0.997, 1}) == "99.7 - 100.0");
}

TEST_CASE("a percentage has the digits of its interval, and none without one") {
  CHECK(format_percent(0.4536, analysis::Interval{0.4531, 0.4541}) == "45.4 %");
  CHECK(format_percent(0.4536, analysis::Interval{0.44, 0.47}) == "45 %");
  CHECK(format_percent(0.4536, std::nullopt) == "45 %");
  CHECK(format_percent(0.99999, analysis::Interval{0.9999, 1}) == ">99.9 %");
  CHECK(format_percent(0, analysis::Interval{0, 0.001}) == "0 %");
}

TEST_CASE("a command of any length takes some lines, not the whole report") {
  Report report = test::sample_report();
  report.session.command = std::vector<std::string>{std::string(10'000, 'x')};
  const std::string text = render_text(report, {});
  check_lines_fit(text, 80);
  CHECK(contains(text, "x..."));
  CHECK(std::count(text.begin(), text.end(), 'x') < 400);
}

TEST_CASE("names in wide scripts fit the terminal too") {
  Report report = test::sample_report();
  report.session.label = "";
  for (int i = 0; i < 60; ++i) {
    *report.session.label += "日本";
  }
  report.session.command = std::vector<std::string>{*report.session.label, "한국어"};
  check_lines_fit(render_text(report, {}), 80);
}

TEST_CASE("the band ends where the session or the selection ends, not with its last column") {
  Report report = test::sample_report();
  report.band.column_s = 0.3;
  report.band.rows = {{"GUI_ACTIVE", std::vector<BandCell>(40, {BandState::kMeasured, 0.5})}};
  report.session.duration_s = 11.9;
  CHECK(contains(render_text(report, {}), " 11.9 s\n"));
  report.selection = Selection{1, 12.5};
  CHECK(contains(render_text(report, {}), " 12.5 s\n"));
}

TEST_CASE("durations read as a clock from a minute on") {
  CHECK(format_duration(2.52) == "2.5 s");
  CHECK(format_duration(59.94) == "59.9 s");
  CHECK(format_duration(59.97) == "1:00");
  CHECK(format_duration(3599.6) == "1:00:00");
  CHECK(format_duration(3723) == "1:02:03");
}

TEST_CASE("counts have thousands separators") {
  CHECK(format_count(7) == "7");
  CHECK(format_count(999) == "999");
  CHECK(format_count(1000) == "1,000");
  CHECK(format_count(1234567) == "1,234,567");
}
