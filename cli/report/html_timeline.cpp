#include <algorithm>
#include <array>
#include <cmath>

#include "cli/report/html.h"
#include "cli/report/html_page.h"
#include "cli/report/html_stage.h"
#include "cli/report/html_tracks.h"
#include "cli/report/text_format.h"

namespace gputrace::report {
namespace {

constexpr std::size_t kMostTicks = 13;
/// Two characters hold a sensor's value: 12 bits, of which the last code says that there is none.
constexpr int kSensorUnknown = 4095;
constexpr std::uint8_t kBusyUnknown = 63;
/// '0'. The alphabet ends with 'o': no quote, no "<", nothing that ends a script element.
constexpr int kFirstCharacter = 48;

/// "±<1", "±3": half the width, in points, rounded up.
std::string error_text(const Unit& unit) {
  if (!unit.ci95_run) {
    return "";
  }
  const double error =
      100 * std::max(unit.ci95_run->upper - unit.busy, unit.busy - unit.ci95_run->lower);
  return error < 1 ? "±<1" : fmt::format("±{:.0f}", std::ceil(error - 1e-9));
}

void add_tools(HtmlPage& page, std::size_t units, bool more) {
  page.raw(
      "<div class=\"tools scripted\">\n"
      "<button data-do=\"whole\">Whole run</button>"
      "<button data-do=\"in\" aria-label=\"Zoom in\">+</button>"
      "<button data-do=\"out\" aria-label=\"Zoom out\">−</button>"
      "<button data-do=\"left\" aria-label=\"Earlier\">◀</button>"
      "<button data-do=\"right\" aria-label=\"Later\">▶</button>"
      "<button data-do=\"previous\">◀ phase</button>"
      "<button data-do=\"next\">phase ▶</button>\n");
  if (more) {
    page.add("<label><input type=\"checkbox\" id=\"all\"> all {} units</label>\n", units);
  }
  page.raw(
      "<output id=\"range\" aria-live=\"polite\"></output></div>\n"
      "<p class=\"quiet scripted\" id=\"pointed\">Point at the time line, or focus it and use the "
      "arrow keys.</p>\n");
}

void add_unit_lanes(HtmlPage& page, const Report& report, const Timeline& timeline,
                    const std::vector<LaneRow>& rows) {
  std::string labels;
  std::string numbers;
  std::optional<Stage> stage;
  for (const LaneRow& row : rows) {
    const Unit& unit = report.units[timeline.rows[row.row].unit];
    if (row.stage != stage) {
      stage = row.stage;
      const bool any_key = std::any_of(rows.begin(), rows.end(), [&row](const LaneRow& other) {
        return other.key && other.stage == row.stage;
      });
      labels += fmt::format("<div class=\"stage{}\">{}</div>", any_key ? "" : " more",
                            to_string(row.stage));
      numbers += fmt::format("<div class=\"stage{}\"></div>", any_key ? "" : " more");
    }
    const std::string_view hidden = row.key ? "" : " more";
    labels += fmt::format("<div class=\"unit{}\" title=\"{}\">{}</div>", hidden, safe(unit.meaning),
                          safe(unit_label(unit)));
    numbers += fmt::format("<div class=\"unit{}\"><b>{}</b><i>{}</i></div>", hidden,
                           safe(format_percent(unit.busy)), safe(error_text(unit)));
  }
  page.add(
      "<div class=\"lane scripted\"><div class=\"names\" id=\"units\">{}</div>"
      "<div class=\"plot\" id=\"heat\"></div><div class=\"values\" id=\"busy-values\">{}</div>"
      "</div>\n",
      labels, numbers);
  if (rows.empty()) {
    return;
  }
  page.raw(
      "<div class=\"lane scripted key\"><div></div><div>busy 0 <span class=\"ramp\"></span> 100 % "
      "<svg class=\"swatch\" width=\"26\" height=\"14\" aria-hidden=\"true\"><rect width=\"26\" "
      "height=\"14\" fill=\"url(#pU)\"/></svg> unknown or asleep</div></div>\n");
}

std::string number(double value, const Lane& lane) {
  return fmt::format("{:.{}f}", value, lane.decimals);
}

void add_sensor_lanes(HtmlPage& page, const std::vector<Lane>& lanes) {
  for (const Lane& lane : lanes) {
    page.add(
        "<div class=\"lane sensor scripted{}\" data-low=\"{}\" data-high=\"{}\" "
        "data-decimals=\"{}\"",
        lane.key ? "" : " more", lane.low, lane.high, lane.decimals);
    if (lane.limit) {
      page.add(" data-limit=\"{}\"", *lane.limit);
    }
    page.add("><div class=\"names\"><b>{}</b><span>{}–{} {}</span>", safe(lane.label),
             number(lane.low, lane), number(lane.high, lane), safe(lane.unit));
    if (lane.limit) {
      page.add("<span>┄ {} {}</span>", lane.limit_name, number(*lane.limit, lane));
    }
    page.raw("</div><div class=\"plot\"></div><div class=\"values\"><b></b><i></i></div></div>\n");
  }
}

double tick_step(double seconds) {
  constexpr std::array<double, 20> kSteps{0.1,  0.2,  0.5,  1,     2,     5,    10,
                                          15,   30,   60,   120,   300,   600,  900,
                                          1800, 3600, 7200, 14400, 21600, 86400};
  for (const double step : kSteps) {
    if (seconds / step < static_cast<double>(kMostTicks)) {
      return step;
    }
  }
  return kSteps.back() * std::ceil(seconds / kSteps.back() / static_cast<double>(kMostTicks));
}

void add_axis(HtmlPage& page, const PageSpan& span) {
  page.raw("<div class=\"lane\"><div></div><div class=\"axis\" id=\"axis\" aria-hidden=\"true\">");
  const double step = span.length() > 0 ? tick_step(span.length()) : 1;
  const auto first = static_cast<long long>(std::ceil(span.start_s / step - 1e-9));
  const auto last = static_cast<long long>(std::floor(span.end_s / step + 1e-9));
  for (long long tick = first; tick <= last; ++tick) {
    const double at = static_cast<double>(tick) * step;
    page.add("<span style=\"left:{:.3f}%\">{}</span>", span.percent(at), clock_text(at, step < 1));
  }
  page.raw("</div><div></div></div>\n");
}

char character(int code) {
  return static_cast<char>(kFirstCharacter + code);
}

void append_track(std::string& data, const std::vector<std::optional<float>>& values,
                  std::size_t windows, const Lane& lane) {
  for (std::size_t i = 0; i < windows; ++i) {
    int code = kSensorUnknown;
    const std::optional<float> value = i < values.size() ? values[i] : std::nullopt;
    if (value && std::isfinite(*value)) {
      const double share =
          (static_cast<double>(*value) * lane.scale - lane.low) / (lane.high - lane.low);
      code = static_cast<int>(
          std::lround(std::clamp(share, 0.0, 1.0) * static_cast<double>(kSensorUnknown - 1)));
    }
    data += character(code / 64);
    data += character(code % 64);
  }
}

/// Why there is no picture, or empty.
std::string_view reason_without(const Report& report) {
  if (!report.timeline || report.timeline->windows == 0) {
    return "There is no time line: nothing was sampled in this span.";
  }
  if (!html_has_plots()) {
    return "This gputrace was built without npm, hence without the library that draws units and "
           "sensors over time. All other parts are complete.";
  }
  return {};
}

}  // namespace

void add_time_line(HtmlPage& page, const Report& report) {
  const PageSpan span = page_span(report);
  page.raw("<section id=\"time-line\" tabindex=\"-1\">\n<h2>Time line</h2>\n");
  const std::string_view without = reason_without(report);
  if (!report.timeline || !without.empty()) {
    page.add("<p class=\"quiet\">{}</p>\n", without);
    if (!report.phases.empty()) {
      page.raw("<div class=\"lines\"><div class=\"lane\"><div class=\"names\">phase</div><div>");
      add_phase_band(page, report.phases, span);
      page.raw("</div><div></div></div>\n");
      add_axis(page, span);
      page.raw("</div>\n");
    }
    page.raw("</section>\n");
    return;
  }
  const Timeline& timeline = *report.timeline;
  const std::vector<LaneRow> rows = lane_rows(report);
  const std::vector<Lane> lanes = sensor_lanes(report);
  const bool more =
      std::any_of(rows.begin(), rows.end(), [](const LaneRow& row) { return !row.key; }) ||
      std::any_of(lanes.begin(), lanes.end(), [](const Lane& lane) { return !lane.key; });
  page.raw(
      "<noscript><p class=\"quiet\">Units and sensors over time are drawn by a script. Without it "
      "the tables below have their figures.</p></noscript>\n");
  add_tools(page, rows.size(), more);
  const bool counted = std::any_of(report.units.begin(), report.units.end(),
                                   [](const Unit& unit) { return unit.ci95_run.has_value(); });
  page.add(
      "<div class=\"lines\" id=\"lines\" tabindex=\"0\" role=\"group\" aria-label=\"Time line. "
      "Plus and minus zoom, arrows move, 0 shows the whole run, n and p go to the next and the "
      "previous phase. The tables below have the same values.\" data-start=\"{:.6f}\" "
      "data-end=\"{:.6f}\" data-first=\"{:.6f}\" data-window=\"{}\" data-windows=\"{}\" "
      "data-sensor-window=\"{}\" "
      "data-rate=\"{}\">\n",
      span.start_s, span.end_s, timeline.start_s, timeline.window_s, timeline.windows,
      timeline.sensor_window_s, counted ? report.sampling.achieved_hz.value_or(0) : 0);
  page.raw("<div class=\"lane\"><div class=\"names\">phase</div><div class=\"band-place\">");
  add_phase_band(page, report.phases, span);
  page.raw("</div><div></div></div>\n");
  add_unit_lanes(page, report, timeline, rows);
  add_sensor_lanes(page, lanes);
  add_axis(page, span);
  page.raw("</div>\n</section>\n");
}

void add_time_line_data(HtmlPage& page, const Report& report) {
  if (!report.timeline || !reason_without(report).empty()) {
    return;
  }
  const Timeline& timeline = *report.timeline;
  std::string data;
  for (const LaneRow& row : lane_rows(report)) {
    const std::vector<std::uint8_t>& codes = timeline.rows[row.row].codes;
    for (std::size_t i = 0; i < timeline.windows; ++i) {
      data += character(i < codes.size() ? std::min(codes[i], kBusyUnknown) : kBusyUnknown);
    }
  }
  page.raw("<script type=\"text/plain\" id=\"busy\">");
  page.raw(data);
  data.clear();
  const std::vector<Lane> lanes = sensor_lanes(report);
  std::size_t windows = 0;
  for (const Lane& lane : lanes) {
    windows = std::max(windows, timeline.tracks[lane.track].mean.size());
  }
  for (const Lane& lane : lanes) {
    const SensorTrack& track = timeline.tracks[lane.track];
    for (const auto* values : {&track.min, &track.mean, &track.max}) {
      append_track(data, *values, windows, lane);
    }
  }
  page.raw("</script>\n<script type=\"text/plain\" id=\"sensors\">");
  page.raw(data);
  page.raw("</script>\n");
}

}  // namespace gputrace::report
