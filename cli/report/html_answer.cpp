#include <algorithm>

#include "cli/report/html_page.h"
#include "cli/report/terminal_text.h"
#include "cli/report/text_format.h"

namespace gputrace::report {
namespace {

constexpr std::size_t kCommandLetters = 100;

std::string date_text(const std::string& rfc3339) {
  // 2026-11-29T22:27:15.123Z
  return rfc3339.size() > 16
             ? fmt::format("{} {} UTC", rfc3339.substr(0, 10), rfc3339.substr(11, 5))
             : rfc3339;
}

/// The cap that was there all the time; absent when it changed.
std::optional<double> power_cap_w(const Report& report) {
  for (const Sensor& sensor : report.sensors) {
    if (sensor.name == "power_cap" && sensor.unit == "W" && sensor.max &&
        sensor.min == sensor.max) {
      return sensor.max;
    }
  }
  return std::nullopt;
}

std::string gpu_text(const Report& report) {
  std::string text = report.gpu.name.empty() ? "GPU not named in the file" : report.gpu.name;
  if (report.gpu.gc) {
    text += fmt::format(" (GC {})", *report.gpu.gc);
  }
  if (const auto cap = power_cap_w(report)) {
    text += fmt::format(" at {:.0f} W", *cap);
  }
  return text;
}

void add_crumb(HtmlPage& page, const Report& report) {
  const Session& session = report.session;
  std::vector<std::string> parts;
  if (session.command) {
    parts.push_back(
        clip(escape_for_terminal(quote_command(*session.command), false), kCommandLetters));
  }
  if (session.label) {
    parts.push_back(*session.label);
  }
  if (session.imported) {
    parts.push_back("imported from " + session.origin);
  }
  parts.push_back(gpu_text(report));
  if (session.started_at) {
    parts.push_back(date_text(*session.started_at));
  }
  if (session.duration_s) {
    parts.push_back(format_duration(*session.duration_s));
  }
  if (report.selection) {
    parts.push_back(fmt::format("{} to {} of it", format_duration(report.selection->from_s),
                                format_duration(report.selection->to_s)));
  }
  page.raw("<p class=\"crumb\"><b>gputrace report</b>");
  for (const std::string& part : parts) {
    page.add(" · {}", safe(part));
  }
  if (report.gpu.simulated) {
    page.raw(" <span class=\"tag\">SIMULATED</span>");
  }
  if (session.cut) {
    page.raw(" <span class=\"tag\">CUT: its end is missing</span>");
  }
  page.raw("</p>\n");
}

void capitalise(std::string& text) {
  if (!text.empty() && text.front() >= 'a' && text.front() <= 'z') {
    text.front() = static_cast<char>(text.front() - 'a' + 'A');
  }
}

/// With what was the limit in bold. The crumb says already what is simulated.
void add_heading(HtmlPage& page, const Answer& answer) {
  constexpr std::string_view kSimulated = "SIMULATED: ";
  std::string headline = answer.headline;
  if (headline.starts_with(kSimulated)) {
    headline.erase(0, kSimulated.size());
    capitalise(headline);
  }
  const std::string_view limit =
      answer.bottleneck ? limit_words(*answer.bottleneck) : std::string_view();
  const std::size_t at = limit.empty() ? std::string::npos : headline.find(limit);
  if (at == std::string::npos) {
    page.add("<h1>{}</h1>\n", safe(headline));
    return;
  }
  page.add("<h1>{}<b>{}</b>{}</h1>\n", safe(headline.substr(0, at)), safe(limit),
           safe(headline.substr(at + limit.size())));
}

/// The first sentence, or what stands before the first comma, is what a hurried reader takes away.
std::string lead_in_bold(std::string_view text) {
  const std::size_t end = text.find_first_of(".;:,");
  if (end == std::string_view::npos) {
    return prose(text);
  }
  const bool sentence = text[end] == '.';
  const std::size_t cut = sentence ? end + 1 : end;
  return fmt::format("<b>{}</b>{}", safe(text.substr(0, cut)), prose(text.substr(cut)));
}

void add_line(HtmlPage& page, std::string_view label, std::string_view markup) {
  if (!markup.empty()) {
    page.add("<dt>{}</dt><dd>{}</dd>\n", label, markup);
  }
}

}  // namespace

void add_answer(HtmlPage& page, const Report& report, const Answer& answer) {
  add_crumb(page, report);
  add_heading(page, answer);
  page.raw("<dl class=\"answer\">\n");
  std::string how_long;
  if (!answer.how_long.empty()) {
    const std::size_t of = std::min(answer.how_long.find(" of "), answer.how_long.size());
    std::string first = answer.how_long.substr(0, of);
    capitalise(first);
    how_long = fmt::format("<b>{}</b>{}.", safe(first), safe(answer.how_long.substr(of)));
    if (!answer.next.empty()) {
      how_long += fmt::format(" Next: {}.", safe(answer.next));
    }
  }
  add_line(page, "How long", how_long);
  std::string to_try = answer.player.empty() ? "" : lead_in_bold(answer.player);
  if (!answer.developer.empty()) {
    to_try += fmt::format("{}<span class=\"dev\">Engine: {}</span>", to_try.empty() ? "" : " ",
                          prose(answer.developer));
  }
  add_line(page, "What to try", to_try);
  std::string how_sure = lead_in_bold(answer.how_sure);
  if (!answer.why.empty()) {
    how_sure += " " + prose(answer.why);
  }
  for (const std::string& limit : answer.limits) {
    how_sure += " " + prose(limit);
  }
  if (const std::size_t count = report.warnings.size(); count > 0) {
    how_sure +=
        fmt::format(" <a href=\"#warnings\">{} warning{}</a>.", count, count == 1 ? "" : "s");
  }
  add_line(page, "How sure", how_sure);
  page.raw("</dl>\n");
}

}  // namespace gputrace::report
