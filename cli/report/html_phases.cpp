#include <algorithm>

#include "cli/report/html_page.h"
#include "cli/report/roofline_phases.h"
#include "cli/report/roofline_plot.h"
#include "cli/report/text_format.h"

namespace gputrace::report {
namespace {

RooflinePlot plot_of(const Report& report, const MachineRoofline& machine) {
  RooflinePlot plot;
  plot.title = report.gpu.name;
  plot.simulated = machine.simulated;
  plot.roofline = machine.roofline;
  plot.roofline.points.clear();  // the page is about the phases
  std::size_t number = 0;
  for (const Phase& phase : report.phases) {
    ++number;
    if (phase.position) {
      plot.phases.push_back(
          {number, phase.bottleneck, phase.end_s - phase.start_s, *phase.position});
    }
  }
  return plot;
}

void add_not_drawn(HtmlPage& page, const RooflinePlot& plot, const Report& report) {
  const auto drawn =
      static_cast<std::size_t>(std::count_if(plot.phases.begin(), plot.phases.end(),
                                             [](const PhaseMark& mark) { return is_drawn(mark); }));
  if (drawn < report.phases.size()) {
    page.add(
        "<p class=\"quiet\">{} of {} phases are not drawn: nothing tells their arithmetic "
        "intensity, or, of idle stretches and of those that wait for the CPU, it says "
        "nothing.</p>\n",
        report.phases.size() - drawn, report.phases.size());
  }
}

/// What else a reader must know before believing a phase.
std::string gaps_text(const Phase& phase) {
  std::string text;
  if (phase.unknown_share > 0.005) {
    text += fmt::format("{} of the samples unknown. ", format_percent(phase.unknown_share));
  }
  if (phase.asleep_share > 0.005 && phase.bottleneck != analysis::Bottleneck::kIdle) {
    text += fmt::format("Asleep {} of the time. ", format_percent(phase.asleep_share));
  }
  return text;
}

std::string evidence_markup(const Phase& phase) {
  std::string text;
  for (const std::string& sentence : phase.evidence) {
    text += prose(sentence) + " ";
  }
  text += safe(gaps_text(phase));
  if (!phase.would_change.empty()) {
    text += fmt::format("<span class=\"quiet\">{}</span> ", prose(phase.would_change));
  }
  if (phase.nearest) {
    text += fmt::format("<span class=\"quiet\">Most like {}.</span>", safe(*phase.nearest));
  }
  return text;
}

std::string certainty(const Phase& phase) {
  return phase.bottleneck == analysis::Bottleneck::kUnknown
             ? std::string("cannot tell")
             : std::string(analysis::certainty_word(phase.confidence));
}

void add_row(HtmlPage& page, const Phase& phase, const std::string& number, bool scene, bool fine) {
  page.add(
      "<tr{}><th scope=\"row\">{}</th><td class=\"when\"><a href=\"#t={:.3f},{:.3f}\">{} – "
      "{}</a></td><td class=\"num\">{}</td>",
      scene ? " class=\"scene\"" : fmt::format(" id=\"p{}\"", number), number, phase.start_s,
      phase.end_s, clock_text(phase.start_s, fine), clock_text(phase.end_s, fine),
      format_duration(phase.end_s - phase.start_s));
  page.add(
      "<td class=\"what\"><svg class=\"swatch\" width=\"26\" height=\"14\" "
      "aria-hidden=\"true\"><rect x=\".5\" y=\".5\" width=\"25\" height=\"13\" rx=\"2\" "
      "fill=\"url(#p{0})\" class=\"s{0}\"/></svg> <b>{1}</b> {2}</td><td>{3}</td>"
      "<td class=\"more-text\">{4}</td>",
      class_key(phase.bottleneck), class_style(phase.bottleneck).letter,
      analysis::to_string(phase.bottleneck), certainty(phase), evidence_markup(phase));
  page.add("<td class=\"more-text\">{}</td></tr>\n",
           phase.position ? safe(position_text(*phase.position)) : "–");
}

}  // namespace

void add_roofline(HtmlPage& page, const Report& report) {
  page.raw("<section id=\"roofline\">\n<h2>Roofline</h2>\n");
  const std::string_view missing =
      "<p class=\"quiet\">Not drawn: no ceiling of this machine was measured. <code>gputrace "
      "calibrate</code> measures them; reports then show where phases stand.</p>\n</section>\n";
  if (!report.machine) {
    page.raw(missing);
    return;
  }
  const RooflinePlot plot = plot_of(report, *report.machine);
  const std::string wide = render_roofline_svg(
      plot, {.width = 900, .height = 520, .in_page = true, .id = "roofline-wide"});
  if (wide.empty()) {
    page.raw(missing);
    return;
  }
  page.add("<p>{} Bars are 95 % intervals; the size of a mark is time.</p>\n",
           plot.roofline.bandwidth.empty()
               ? "A point at the roof has all the computing rate there is."
               : "A point on the slanted roof has all the memory bandwidth there is: only fewer "
                 "bytes, or more work per byte, make it faster.");
  page.add("<div class=\"wide-plot\">{}</div>\n<div class=\"narrow-plot\">{}</div>\n", wide,
           render_roofline_svg(
               plot, {.width = 360, .height = 400, .in_page = true, .id = "roofline-narrow"}));
  add_not_drawn(page, plot, report);
  if (!report.machine->source.empty()) {
    page.add("<p class=\"quiet\">Ceilings from {}.{}{}</p>\n", safe(report.machine->source),
             report.machine->fit.why.empty() ? "" : " ", prose(report.machine->fit.why));
  }
  page.raw("</section>\n");
}

void add_phases(HtmlPage& page, const Report& report) {
  page.raw("<section id=\"phases\">\n<h2>Phases</h2>\n");
  if (report.phases.empty()) {
    page.raw("<p class=\"quiet\">None: too little was sampled to say anything.</p>\n</section>\n");
    return;
  }
  page.raw(
      "<table class=\"phases-table\"><thead><tr><th scope=\"col\">#</th><th "
      "scope=\"col\">from – to</th><th scope=\"col\" class=\"num\">length</th><th "
      "scope=\"col\">limited by</th><th scope=\"col\">how sure</th><th scope=\"col\">evidence</th>"
      "<th scope=\"col\">on the roofline</th></tr></thead><tbody>\n");
  const bool fine = is_fine(page_span(report));
  std::size_t number = 0;
  for (const Phase& phase : report.phases) {
    ++number;
    add_row(page, phase, std::to_string(number), false, fine);
    std::size_t scene_number = 0;
    for (const Phase& scene : phase.scenes) {
      ++scene_number;
      add_row(page, scene, fmt::format("{}.{}", number, scene_number), true, fine);
    }
  }
  page.raw("</tbody></table>\n</section>\n");
}

void add_warnings(HtmlPage& page, const Report& report) {
  if (report.warnings.empty()) {
    return;
  }
  page.raw("<section id=\"warnings\" tabindex=\"-1\">\n<h2>Warnings</h2>\n");
  page.raw("<ul class=\"warnings\">\n");
  for (const Warning& warning : report.warnings) {
    page.add("<li><b>{}</b>", prose(warning.text));
    if (!warning.hint.empty()) {
      page.add(" What to do: {}", prose(warning.hint));
    }
    page.add(" <code>[{}]</code></li>\n", safe(warning.code));
  }
  page.raw("</ul>\n</section>\n");
}

}  // namespace gputrace::report
