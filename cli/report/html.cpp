#include "cli/report/html.h"

#include <algorithm>
#include <cmath>
#include <span>
#include <string_view>
#include <utility>

#include "cli/report/html_page.h"
#include "cli/report/render_json.h"
#include "cli/report/roofline_style.h"
#include "cli/report/terminal_text.h"

namespace gputrace::report {

/// Made by gputrace_embed().
std::span<const std::pair<std::string_view, std::string_view>> embedded_page_assets();

namespace {

/// The page stays under 2 MB for an hour of 40 units with this much of JSON beside their pictures.
constexpr std::size_t kJsonBudget = 150'000;

/// No "<" can end the element, and JSON has "<" in strings only.
std::string inert_json(std::string_view json) {
  std::string result;
  for (const char c : json) {
    if (c == '<') {
      result += "\\u003c";
    } else {
      result += c;
    }
  }
  return result;
}

/// Empty where it is more than fits.
std::string json_within_budget(const Report& report) {
  std::string json;
  const Status whole =
      write_json(report, JsonLayout::kOneLine, [&json](std::string_view part) -> Status {
        json += part;
        return json.size() <= kJsonBudget ? Status() : fail(ErrorCode::kNoSpace, "too much JSON");
      });
  return whole ? json : std::string();
}

/// Exact figures. Where phases have too many of them, without the units of phases; empty where that
/// is still too much.
std::string embedded_json(const Report& report) {
  std::string json = json_within_budget(report);
  if (!json.empty()) {
    return json;
  }
  Report smaller = report;
  smaller.timeline.reset();
  for (Phase& phase : smaller.phases) {
    phase.units.clear();
    phase.sensors.clear();
    phase.scenes.clear();
  }
  return json_within_budget(smaller);
}

std::string title_of(const Report& report) {
  if (report.session.label) {
    return *report.session.label;
  }
  return report.session.command ? quote_command(*report.session.command) : report.session.file;
}

void add_head(HtmlPage& page, const Report& report) {
  page.raw(
      "<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n"
      // What a file from elsewhere may do in a browser: nothing but this page's own script.
      "<meta http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'; "
      "style-src 'unsafe-inline'; script-src 'unsafe-inline'; img-src data:\">\n"
      "<meta name=\"viewport\" content=\"width=device-width,initial-scale=1\">\n"
      "<meta name=\"color-scheme\" content=\"light dark\">\n");
  page.add("<title>{}{} - gputrace report</title>\n", report.gpu.simulated ? "SIMULATED: " : "",
           safe(clip(escape_for_terminal(title_of(report), false), 80)));
  page.raw("<script>document.documentElement.className='js'</script>\n<style>\n");
  page.raw(class_colours_css());
  page.raw(page_asset("report.css"));
  page.raw(page_asset("uPlot.min.css"));
  page.raw("</style>\n");
  page.raw(kRooflineStyle);
  page.raw("</head>\n");
}

void add_scripts(HtmlPage& page, const Report& report) {
  const std::string json = embedded_json(report);
  if (!json.empty()) {
    page.raw("<script type=\"application/json\" id=\"report\">");
    page.raw(inert_json(json));
    page.raw("</script>\n");
  }
  if (!report.timeline || page_asset("uPlot.iife.min.js").empty()) {
    return;
  }
  add_time_line_data(page, report);
  page.raw("<!-- uPlot draws the time line. Its licence:\n");
  page.raw(page_asset("LICENSE"));
  page.raw("-->\n<script>");
  page.raw(page_asset("uPlot.iife.min.js"));
  page.raw("</script>\n<script>");
  page.raw(page_asset("report.js"));
  page.raw("</script>\n");
}

}  // namespace

std::string_view page_asset(std::string_view name) {
  for (const auto& [file, text] : embedded_page_assets()) {
    if (file == name) {
      return text;
    }
  }
  return {};
}

bool html_has_plots() {
  return !page_asset("uPlot.iife.min.js").empty();
}

std::string prose(std::string_view text) {
  std::string result;
  while (true) {
    const std::size_t open = text.find('`');
    const std::size_t close = open == std::string_view::npos ? open : text.find('`', open + 1);
    if (close == std::string_view::npos) {
      return result + safe(text);
    }
    result += fmt::format("{}<code>{}</code>", safe(text.substr(0, open)),
                          safe(text.substr(open + 1, close - open - 1)));
    text.remove_prefix(close + 1);
  }
}

PageSpan page_span(const Report& report) {
  PageSpan span;
  span.start_s = report.selection ? report.selection->from_s : 0;
  span.end_s = report.selection ? report.selection->to_s : report.session.duration_s.value_or(0);
  if (report.timeline && span.end_s <= span.start_s) {  // a length that nobody noted
    span.end_s = report.timeline->start_s +
                 report.timeline->window_s * static_cast<double>(report.timeline->windows);
  }
  for (const Phase& phase : report.phases) {
    span.end_s = std::max(span.end_s, phase.end_s);
  }
  return span;
}

std::string clock_text(double seconds, bool fine) {
  const auto tenths = static_cast<long long>(std::llround(seconds * 10));
  const long long whole = fine ? tenths / 10 : static_cast<long long>(std::llround(seconds));
  std::string text = whole >= 3600
                         ? fmt::format("{}:{:02}:{:02}", whole / 3600, whole / 60 % 60, whole % 60)
                         : fmt::format("{}:{:02}", whole / 60, whole % 60);
  return fine ? fmt::format("{}.{}", text, tenths % 10) : text;
}

std::string render_html(const Report& report, const HtmlOptions& options) {
  const Answer answer = answer_of(report);
  HtmlPage page;
  add_head(page, report);
  page.raw("<body>\n<a class=\"skip\" href=\"#time-line\">To the time line</a>\n<main>\n");
  add_patterns(page);
  add_answer(page, report, answer);
  add_class_bar(page, answer);
  add_time_line(page, report);
  add_roofline(page, report);
  add_phases(page, report);
  add_warnings(page, report);
  add_tables(page, report);
  add_method(page, report);
  page.add("</main>\n<footer>Written by gputrace{}{}.</footer>\n",
           options.version.empty() ? "" : " ", safe(options.version));
  add_scripts(page, report);
  page.raw("</body>\n</html>\n");
  return page.take();
}

}  // namespace gputrace::report
