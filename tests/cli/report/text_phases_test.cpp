#include <doctest/doctest.h>

#include <algorithm>
#include <regex>
#include <sstream>
#include <string>
#include <string_view>

#include "cli/report/class_style.h"
#include "cli/report/render_text.h"
#include "cli/report/terminal_text.h"
#include "tests/cli/report/sample_phases.h"
#include "tests/support/golden.h"

using namespace gputrace;          // NOLINT(google-build-using-namespace)
using namespace gputrace::report;  // NOLINT(google-build-using-namespace)
using analysis::Bottleneck;

namespace {

bool contains(std::string_view text, std::string_view part) {
  return text.find(part) != std::string_view::npos;
}

std::string without_escapes(const std::string& text) {
  return std::regex_replace(text, std::regex("\x1b\\[[0-9;]*m"), "");
}

Report two_classes() {
  Report report =
      test::report_of_phases({test::witnessed_phase(Bottleneck::kBandwidth, 0, 41.3, 0.97, 71, 40),
                              test::sample_phase(Bottleneck::kCompute, 41.3, 74, 0.92)});
  report.phases[0].position = test::two_sided_position();
  report.machine = test::sample_machine();
  return report;
}

std::string line_with(const std::string& text, std::string_view part) {
  std::istringstream lines(text);
  for (std::string line; std::getline(lines, line);) {
    if (contains(line, part)) {
      return line;
    }
  }
  return "";
}

}  // namespace

TEST_CASE("text reports with phases look as agreed") {
  test::check_golden("report_hour.txt", render_text(test::sample_hour(), {}));
  test::check_golden("report_hour_60.txt",
                     render_text(test::sample_hour(), {.ascii = true, .width = 60}));
  test::check_golden("report_hour_120.txt", render_text(test::sample_hour(), {.width = 120}));
  test::check_golden("report_two_classes.txt", render_text(two_classes(), {}));
  Report unknown = test::report_of_phases({test::sample_phase(Bottleneck::kUnknown, 0, 12, 0.3)});
  unknown.unknown_registers = {{"GRBM_STATUS3", "only root may read it", {"GL2CC_BUSY"}}};
  test::check_golden("report_unknown.txt", render_text(unknown, {}));
  Report idle = test::report_of_phases({test::sample_phase(Bottleneck::kIdle, 0, 12, 0.99)});
  idle.gpu.simulated = true;
  idle.gpu.scenario = "idle";
  test::check_golden("report_idle.txt", render_text(idle, {}));
}

TEST_CASE("no line of a report with phases is wider than the terminal") {
  for (const Report& report : {test::sample_hour(), two_classes()}) {
    for (const std::size_t width : {60U, 72U, 80U, 100U, 120U, 200U}) {
      Report fitting = report;
      for (BandRow& row : fitting.band.rows) {
        row.cells.resize(width - kBandLabelWidth, {BandState::kMeasured, 0.5});
      }
      for (const bool ascii : {false, true}) {
        std::istringstream lines(render_text(fitting, {.ascii = ascii, .width = width}));
        for (std::string line; std::getline(lines, line);) {
          CAPTURE(line);
          CHECK(display_width(line) <= width);
        }
      }
    }
  }
}

TEST_CASE("colour changes no character of a report with phases") {
  for (const std::size_t width : {60U, 80U, 120U}) {
    for (const bool ascii : {false, true}) {
      for (const Report& report : {test::sample_hour(), two_classes()}) {
        const std::string plain = render_text(report, {.ascii = ascii, .width = width});
        const std::string coloured =
            render_text(report, {.colour = true, .ascii = ascii, .width = width});
        CHECK(plain != coloured);
        CHECK_FALSE(contains(plain, "\x1b"));
        CHECK(without_escapes(coloured) == plain);
      }
    }
  }
}

TEST_CASE("each class has its letter in its own colour") {
  for (const Bottleneck bottleneck : kAllClasses) {
    const Report report = test::report_of_phases({test::sample_phase(bottleneck, 0, 10, 0.95)});
    const ClassStyle& style = class_style(bottleneck);
    const std::string letter = "\x1b[" + std::to_string(style.terminal_colour) + "m" +
                               std::string(1, style.text_letter) + "\x1b[0m";
    CHECK(contains(render_text(report, {.colour = true}), letter));
  }
}

TEST_CASE("an ASCII report with phases has no other character") {
  for (const char c : render_text(test::sample_hour(), {.ascii = true})) {
    REQUIRE(static_cast<unsigned char>(c) < 0x80);
  }
}

TEST_CASE("the answer comes first, then phases, units, roofline, warnings, sampling") {
  Report report = test::sample_hour();
  report.warnings.push_back({"late", "Some reads were late.", ""});
  const std::string text = render_text(report, {});
  CHECK(text.rfind("Limited by memory bandwidth for ", 0) == 0);
  std::size_t before = 0;
  for (const std::string_view title : {"\nWhen ", "    limited by ", " from - to", "\nUnits,",
                                       "\nRoofline ", "\nWarnings", "\nSampling", "\nSensors"}) {
    CAPTURE(title);
    const std::size_t at = text.find(title);
    REQUIRE(at != std::string::npos);
    CHECK(at > before);
    before = at;
  }
}

TEST_CASE("the band shows the class with most of each column, and gaps as gaps") {
  Report report = test::report_of_phases({test::sample_phase(Bottleneck::kCompute, 0, 4, 0.95),
                                          test::sample_phase(Bottleneck::kIdle, 4, 5.6, 0.95),
                                          test::sample_phase(Bottleneck::kMemory, 7, 10, 0.95)});
  report.band.column_s = 1;
  for (BandRow& row : report.band.rows) {
    row.cells.resize(10);
  }
  CHECK(line_with(render_text(report, {}), "  limited by  ") == "  limited by    CCCC.. YYY");
}

TEST_CASE("phases are drawn over time where no unit is") {
  Report report = test::report_of_phases({test::sample_phase(Bottleneck::kCompute, 0, 10, 0.95)});
  report.band = {};
  CHECK(contains(render_text(report, {}), "  limited by    " + std::string(64, 'C') + "\n"));
}

TEST_CASE("evidence is dropped below 60 columns only") {
  const Report report = two_classes();
  CHECK(contains(render_text(report, {.width = 60}), "EA 93 %"));
  CHECK(contains(render_text(report, {.width = 80}), "sure     EA 93 %"));
  CHECK_FALSE(contains(line_with(render_text(report, {.width = 59}), "bandwidth   41.3 s"), "EA"));
}

TEST_CASE("over 100 columns only bars grow") {
  const std::string text = render_text(test::sample_hour(), {.width = 160});
  std::istringstream lines(text);
  for (std::string line; std::getline(lines, line);) {
    if (display_width(line) > 100) {
      CAPTURE(line);
      const bool is_bar = contains(line, "|") || contains(line, "─") || contains(line, "▄") ||
                          contains(line, "FLOP/byte") || contains(line, "limited by  ") ||
                          contains(line, "  phases ");
      CHECK(is_bar);
    }
  }
}

TEST_CASE("a one-sided position has one end in table, list and plot") {
  Report report = test::report_of_phases({test::sample_phase(Bottleneck::kMemory, 0, 10, 0.95)});
  report.phases[0].position = test::one_sided_position();
  report.machine = test::sample_machine();
  const std::string text = render_text(report, {});
  CHECK(contains(line_with(text, "0:00.0 - 0:10.0"), "< 5.8"));
  CHECK(contains(text, "below 0.36 of the ridge, < 5.8 FLOP/B"));
  CHECK(contains(text, "<Y"));
  CHECK(contains(text, "Left of the ridge busy bits do not depend on intensity."));
}

TEST_CASE("scenes stand below their phase") {
  const std::string text = render_text(test::sample_hour(), {});
  CHECK(contains(text, "  2.1  "));
  CHECK(contains(text, "  2.2  "));
}

TEST_CASE("strings of files in answers, phases and the roofline are escaped") {
  Report report = two_classes();
  Phase& phase = report.phases[0];
  phase.evidence = {"e\x1b[2J"};
  phase.would_change = "w\x1b[2J";
  phase.dram->source = "s\x1b[2J";
  phase.position = test::one_sided_position();
  phase.position->notes = {"n\x1b[2J"};
  phase.units[9].name = "EA_BUSY\x1b[2J";
  report.machine->source = "c\x1b[2J";
  report.machine->fit.why = "f\x1b[2J";
  report.machine->roofline.compute[0].name = "p\x1b[2J";
  report.machine->roofline.bandwidth[0].name = "m\x1b[2J";
  report.phases[1].bottleneck = Bottleneck::kUnknown;
  report.phases[1].evidence = {"u\x1b[2J"};
  const std::string text = render_text(report, {});
  CHECK(contains(text, "\\x1b[2J"));
  CHECK_FALSE(contains(text, "\x1b"));
}
