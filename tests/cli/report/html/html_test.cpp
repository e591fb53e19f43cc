#include "cli/report/html.h"

#include <doctest/doctest.h>

#include <algorithm>
#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include "tests/cli/report/html/sample_hour.h"
#include "tests/cli/report/sample_report.h"

namespace gputrace {
namespace {

std::string page_of(const report::Report& report) {
  return report::render_html(report, {.version = "0.0.0"});
}

std::size_t count(std::string_view text, std::string_view what) {
  std::size_t found = 0;
  for (std::size_t at = text.find(what); at != std::string_view::npos;
       at = text.find(what, at + what.size())) {
    ++found;
  }
  return found;
}

bool has(std::string_view text, std::string_view what) {
  return text.find(what) != std::string_view::npos;
}

/// The text of the element with this id, up to its end tag.
std::string_view element(std::string_view page, std::string_view id) {
  const std::size_t at = page.find("id=\"" + std::string(id) + "\"");
  REQUIRE(at != std::string_view::npos);
  const std::size_t begin = page.find('>', at) + 1;
  return page.substr(begin, page.find("</", begin) - begin);
}

/// Without what scripts and styles contain.
std::string markup_of(std::string_view page) {
  std::string markup;
  while (!page.empty()) {
    const std::size_t script = std::min(page.find("<script"), page.find("<style"));
    markup += page.substr(0, script);
    if (script == std::string_view::npos) {
      break;
    }
    const std::string_view end = page.substr(script, 3) == "<sc" ? "</script>" : "</style>";
    const std::size_t close = page.find(end, script);
    REQUIRE(close != std::string_view::npos);
    page.remove_prefix(close + end.size());
  }
  return markup;
}

/// Elements that have an end tag are closed in the order in which they were opened.
void check_nesting(std::string_view page) {
  const std::string markup = markup_of(page);
  std::vector<std::string> open;
  const std::string_view none = " meta input br img ";
  for (std::size_t at = markup.find('<'); at != std::string::npos; at = markup.find('<', at + 1)) {
    const std::size_t end = markup.find('>', at);
    REQUIRE(end != std::string::npos);
    if (markup.compare(at, 2, "<!") == 0 || markup[end - 1] == '/') {
      continue;
    }
    const bool closes = markup[at + 1] == '/';
    const std::size_t from = at + (closes ? 2 : 1);
    const std::string name = markup.substr(from, markup.find_first_of(" >\n", from) - from);
    if (closes) {
      REQUIRE(!open.empty());
      REQUIRE(open.back() == name);
      open.pop_back();
    } else if (!has(none, " " + name + " ")) {
      open.push_back(name);
    }
  }
  CHECK(open.empty());
}

TEST_CASE("an hour of 40 units is one file under 2 MB that loads nothing") {
  const report::Report report = test::sample_hour();
  REQUIRE(report.units.size() == 40);
  REQUIRE(report.timeline->windows == 36'000);
  const std::string page = page_of(report);
  MESSAGE("an hour of 40 units: ", page.size(), " bytes");
  CHECK(page.size() < 2'000'000);
  const std::string markup = markup_of(page);
  for (const std::string_view outside :
       {" src=", "<link", "<img", "<iframe", "@import", "http-equiv=\"refresh\""}) {
    CHECK_FALSE(has(markup, outside));
  }
  CHECK(count(markup, "http") == 1 + count(markup, "http://www.w3.org/2000/svg"));  // the policy
  CHECK(has(page, "default-src 'none'"));
}

TEST_CASE("a day is drawn in coarser windows and stays as small") {
  const report::Report report = test::sample_day();
  CHECK(report.timeline->window_s == 5);
  CHECK(page_of(report).size() < 2'000'000);
}

TEST_CASE("answer, bands, roofline and tables are there without a script") {
  const std::string page = markup_of(page_of(test::sample_hour()));
  CHECK(has(page, "<h1>Limited by <b>memory bandwidth</b></h1>"));
  for (const std::string_view label : {"How long", "What to try", "How sure"}) {
    CHECK(has(page, label));
  }
  CHECK(has(page, "<a href=\"#warnings\">2 warnings</a>"));
  CHECK(count(page, "<g data-a=") == 31);
  CHECK(count(page, "<tr id=\"p") == 31);
  CHECK(count(page, "role=\"img\"") == 2);  // two rooflines
  CHECK(has(page, "id=\"roofline-wide-title\""));
  CHECK(has(page, "id=\"roofline-narrow-title\""));
  CHECK(count(page, "<details>") == 2);
  CHECK(has(page, "SIMULATED"));
  CHECK(has(page, "[unknown_samples]"));
  CHECK(has(page, "998.2 Hz reached"));
}

TEST_CASE("every page is well formed") {
  for (const report::Report& report :
       {test::sample_hour(), test::sample_second(), test::sample_all_unknown(),
        test::sample_import(), test::sample_hostile(), test::sample_report(),
        test::sample_report_with_evidence(), test::sample_report_without_samples(),
        report::Report()}) {
    const std::string page = page_of(report);
    check_nesting(page);
    for (const std::string_view broken : {"nan", "inf%", "-nan", "\"inf"}) {
      CHECK_FALSE(has(markup_of(page), broken));
    }
  }
}

TEST_CASE("busy codes are one character a window and a unit, from 0 to o") {
  report::Report report = test::sample_second();
  report.timeline->rows.resize(1);
  report.timeline->rows[0].codes = {0, 1, 31, 62, 63, 57, 10, 63, 62, 0};
  report.timeline->windows = 10;
  const std::string page = page_of(report);
  if (!report::html_has_plots()) {
    MESSAGE("skipped: built without uPlot");
    return;
  }
  CHECK(element(page, "busy") == "01Onoi:on0");
}

TEST_CASE("a row that is too short or holds more than 6 bits ends in unknown windows") {
  report::Report report = test::sample_second();
  report.timeline->rows.resize(1);
  report.timeline->rows[0].codes = {5, 200};
  report.timeline->windows = 4;
  if (!report::html_has_plots()) {
    MESSAGE("skipped: built without uPlot");
    return;
  }
  CHECK(element(page_of(report), "busy") == "5ooo");
}

TEST_CASE("sensors are two characters a value, and no reading is no value") {
  report::Report report = test::sample_second();
  report.timeline->sensor_window_s = 0.5;
  report.timeline->tracks = {{.name = "package_power",
                              .unit = "W",
                              .limit = 100,
                              .min = {0.F, std::nullopt},
                              .mean = {50.F, std::nullopt},
                              .max = {100.F, std::nullopt}}};
  if (!report::html_has_plots()) {
    MESSAGE("skipped: built without uPlot");
    return;
  }
  // 0 of 4094, 2047 = 31 x 64 + 63, 4094 = 63 x 64 + 62.
  CHECK(element(page_of(report), "sensors") == "00ooOoooonoo");
}

TEST_CASE("no string of a report leaves its place in the page") {
  const std::string page = page_of(test::sample_hostile());
  const std::string plain = page_of(test::sample_hour());
  for (const std::string_view tag :
       {"<script", "</script", "<style", "</style", "<title", "<img"}) {
    CAPTURE(tag);
    const bool of_svg = tag == "<title";
    if (!of_svg) {
      CHECK(count(page, tag) == count(plain, tag));
    }
  }
  CHECK_FALSE(has(page, "<img"));
  CHECK_FALSE(has(markup_of(page), "onerror=alert(1)>"));
  CHECK_FALSE(has(page, "\x1b"));
  CHECK_FALSE(has(markup_of(page), "\xe2\x80\xae"));
  CHECK_FALSE(has(markup_of(page), "\"'>"));
}

TEST_CASE("what is missing is said, never drawn as zero") {
  const std::string second = page_of(test::sample_second());
  CHECK(has(second, "Not drawn: no ceiling of this machine was measured"));
  const std::string nothing = page_of(report::Report());
  CHECK(has(nothing, "There is no time line"));
  CHECK(has(nothing, "None: too little was sampled to say anything."));
  const std::string imported = page_of(test::sample_import());
  CHECK(has(imported, "imported from radeontop dump trace.txt"));
  CHECK_FALSE(has(markup_of(imported), "±<1"));
}

TEST_CASE("units come by stage, twelve before the reader asks for more") {
  const std::string page = markup_of(page_of(test::sample_hour()));
  if (!report::html_has_plots()) {
    MESSAGE("skipped: built without uPlot");
    return;
  }
  CHECK(count(page, "<div class=\"unit\" title=") == 12);
  CHECK(count(page, "<div class=\"unit more\" title=") == 28);
  const std::size_t front = page.find(">Front end<");
  const std::size_t geometry = page.find(">Geometry<");
  const std::size_t raster = page.find(">Raster<");
  const std::size_t shader = page.find(">Shader<");
  const std::size_t memory = page.find(">Cache, memory<");
  CHECK(front < geometry);
  CHECK(geometry < raster);
  CHECK(raster < shader);
  CHECK(shader < memory);
  CHECK(memory < std::string::npos);
}

TEST_CASE("units of a stage follow the pipeline, in whatever order they were recorded") {
  report::Report report = test::sample_second();
  std::reverse(report.timeline->rows.begin(), report.timeline->rows.end());
  if (!report::html_has_plots()) {
    MESSAGE("skipped: built without uPlot");
    return;
  }
  const std::string page = page_of(report);
  std::size_t at = page.find("id=\"units\"");
  for (const std::string_view name :
       {"GUI_ACTIVE", "GE", "PA", "SC", "DB", "CB", "SPI", "TA", "TCP", "GL1CC", "GL2CC", "EA"}) {
    CAPTURE(name);
    at = page.find(">" + std::string(name) + "</div>", at);
    CHECK(at != std::string::npos);
  }
}

TEST_CASE("many phases leave their units out of the embedded JSON, not the page") {
  report::Report report = test::sample_import();
  const std::vector<report::Phase> phases = report.phases;
  for (int i = 0; i < 20; ++i) {
    report.phases.insert(report.phases.end(), phases.begin(), phases.end());
  }
  const std::string page = page_of(report);
  CHECK(count(page, "<tr id=\"p") == 31 * 21);
  CHECK(page.size() < 2'000'000);
}

TEST_CASE("a phase too short for its pixels is drawn two pixels wide") {
  const std::string page = page_of(test::sample_hour());
  const std::size_t at = page.find("data-n=\"18\"");
  REQUIRE(at != std::string::npos);
  CHECK(has(page.substr(at, 200), "width=\"2\""));
}

}  // namespace
}  // namespace gputrace
