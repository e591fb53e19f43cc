#include "cli/report/bench_html.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "cli/report/bench_html_table.h"
#include "cli/report/bench_json.h"
#include "cli/report/bench_plot.h"
#include "cli/report/bench_svg.h"
#include "cli/report/bench_words.h"
#include "cli/report/html_page.h"
#include "cli/report/roofline_style.h"
#include "cli/report/terminal_text.h"

namespace gputrace::report {
namespace {

using analysis::BenchRun;
using analysis::TestResult;
using analysis::TestStatus;

constexpr std::size_t kMostAnswers = 3;
constexpr double kNarrowRoofline = 360;

/// Beside report.css.
constexpr std::string_view kStyle = R"(<style>
.answer{grid-template-columns:110px minmax(0,1fr)}
.tests{display:grid;grid-template-columns:repeat(auto-fill,minmax(min(100%,440px),1fr));gap:18px 28px}
.test{min-width:0;margin:0}.test h3{font-size:15px;margin:0 0 4px;overflow-wrap:anywhere}
.test svg{max-width:100%;height:auto;display:block}
.test ul{margin:2px 0 6px;padding-left:18px;font-size:13px}.test li{overflow-wrap:anywhere}
.test p{margin:4px 0;font-size:13px;overflow-wrap:anywhere}.wrong{font-weight:600}
.test table{font-size:12px}.test td i{font-style:normal;color:var(--quiet)}
@media (max-width:700px){.answer{grid-template-columns:minmax(0,1fr)}}
@media print{.test{break-inside:avoid}.tests{gap:8px 16px;grid-template-columns:1fr 1fr}
.test table{font-size:9px}.test td,.test th{padding:1px 3px}.test .num{white-space:normal}
details::details-content{content-visibility:visible;display:block}}
</style>
)";

std::string id_of(std::string_view test) {
  std::string id = "t-";
  for (const char c : test) {
    const bool plain = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9');
    id += plain || c == '.' || c == '_' ? c : '-';
  }
  return id;
}

std::size_t count_of(const BenchRun& run, TestStatus status) {
  return static_cast<std::size_t>(std::ranges::count(run.tests, status, &TestResult::status));
}

void add_head(HtmlPage& page, const BenchRun& run) {
  page.raw(
      "<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n"
      "<meta http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'; "
      "style-src 'unsafe-inline'\">\n"
      "<meta name=\"viewport\" content=\"width=device-width,initial-scale=1\">\n"
      "<meta name=\"color-scheme\" content=\"light dark\">\n");
  page.add("<title>{}{} - gputrace bench</title>\n<style>\n",
           run.device.simulated ? "SIMULATED: " : "", safe(clip(run.device.name, 80)));
  page.raw(class_colours_css());
  page.raw(page_asset("report.css"));
  page.raw("</style>\n");
  page.raw(kRooflineStyle);
  page.raw(bench_plot_style());
  page.raw(kStyle);
  page.raw("</head>\n");
}

void add_crumb(HtmlPage& page, const BenchRun& run) {
  page.raw("<p class=\"crumb\"><b>gputrace bench</b>");
  if (!run.started_at.empty()) {
    page.add(" · {}", safe(run.started_at));
  }
  page.add(" · {}", run.quick ? "a quick run" : "a full run");
  if (run.device.simulated) {
    page.raw(" <span class=\"tag\">SIMULATED: a model of a GPU, nothing was measured</span>");
  }
  if (run.cancelled) {
    page.raw(" <span class=\"tag\">STOPPED before its end</span>");
  }
  page.raw("</p>\n");
}

void add_answers(HtmlPage& page, const BenchRun& run) {
  page.add("<h1>{}</h1>\n<dl class=\"answer\">\n", safe(run.device.name));
  for (const std::string& kind : kinds_of(run)) {
    const std::vector<std::string> answers = best_answers(run, kind);
    if (answers.empty()) {
      continue;
    }
    page.add("<dt><a href=\"#{}\">{}</a></dt><dd>", id_of(kind), safe(kind));
    const std::size_t shown = std::min(answers.size(), kMostAnswers);
    for (std::size_t i = 0; i < shown; ++i) {
      page.add("{}{}", i == 0 ? "" : "<br>", safe(answers[i]));
    }
    if (answers.size() > shown) {
      page.add("<br><span class=\"quiet\">and {} more below</span>", answers.size() - shown);
    }
    page.raw("</dd>\n");
  }
  page.add("<dt>How sure</dt><dd>{} of {} tables passed what could be checked",
           count_of(run, TestStatus::kOk), run.tests.size());
  for (const TestStatus status :
       {TestStatus::kSuspect, TestStatus::kFailed, TestStatus::kSkipped}) {
    if (const std::size_t count = count_of(run, status); count > 0) {
      page.add(", {} {}", count, status_name(status));
    }
  }
  page.raw(". <a href=\"#method\">How this was measured</a>.</dd>\n</dl>\n");
}

void add_wrong(HtmlPage& page, const BenchRun& run) {
  const bool any = std::ranges::any_of(
      run.tests, [](const TestResult& test) { return test.status != TestStatus::kOk; });
  if (!any) {
    return;
  }
  page.raw(
      "<section id=\"warnings\">\n<h2>Suspect, failed, skipped</h2>\n<ul class=\"warnings\">\n");
  for (const TestStatus status :
       {TestStatus::kFailed, TestStatus::kSuspect, TestStatus::kSkipped}) {
    for (const TestResult& test : run.tests) {
      if (test.status == status) {
        page.add("<li><b>{}</b> {}</li>\n", safe(test.id), safe(status_sentence(test)));
      }
    }
  }
  page.raw("</ul>\n</section>\n");
}

void add_device(HtmlPage& page, const BenchRun& run) {
  page.raw("<section id=\"device\">\n<h2>Device</h2>\n<dl class=\"method\">\n");
  const auto entry = [&](std::string_view key, const std::string& text) {
    if (!text.empty()) {
      page.add("<dt>{}</dt><dd>{}</dd>\n", key, safe(text));
    }
  };
  entry("Name", run.device.name);
  entry("Driver",
        run.device.driver + (run.device.driver_info.empty() ? "" : ", ") + run.device.driver_info);
  entry("Address", run.device.pci.value_or(""));
  entry("Subgroup sizes", fmt::format("{}", fmt::join(run.device.subgroup_sizes, ", ")));
  std::string before;
  const auto add = [&before](const std::optional<double>& value, std::string_view unit,
                             int digits) {
    if (value) {
      before += fmt::format("{}{:.{}f} {}", before.empty() ? "" : ", ", *value, digits, unit);
    }
  };
  add(run.clock_mhz, "MHz", 0);
  add(run.power_w, "W", 1);
  add(run.temperature_c, "°C", 0);
  entry("Before the run", before);
  page.raw("</dl>\n</section>\n");
}

void add_bench_roofline(HtmlPage& page, const RooflinePlot& plot) {
  const std::string wide = render_roofline_svg(plot, {.in_page = true, .id = "roofline-wide"});
  if (wide.empty()) {
    return;
  }
  const std::string narrow = render_roofline_svg(
      plot, {.width = kNarrowRoofline, .in_page = true, .id = "roofline-narrow"});
  page.raw("<section id=\"roofline\">\n<h2>Roofline</h2>\n");
  page.add("<div class=\"wide-plot\">{}</div>\n<div class=\"narrow-plot\">{}</div>\n", wide,
           narrow);
  if (!plot.roofline.warnings.empty()) {
    page.raw("<ul class=\"warnings\">\n");
    for (const std::string& warning : plot.roofline.warnings) {
      page.add("<li>{}</li>\n", safe(warning));
    }
    page.raw("</ul>\n");
  }
  page.raw("</section>\n");
}

void add_list(HtmlPage& page, const std::vector<std::string>& lines) {
  if (lines.empty()) {
    return;
  }
  page.raw("<ul>");
  for (const std::string& line : lines) {
    page.add("<li>{}</li>\n", safe(line));
  }
  page.raw("</ul>\n");
}

void add_test(HtmlPage& page, const TestResult& test) {
  page.add("<article class=\"test\" id=\"{}\">\n<h3>{}</h3>\n", id_of(test.id),
           safe(test_title(test)));
  if (const std::string status = status_sentence(test); !status.empty()) {
    page.add("<p{}>{}</p>\n", test.status == TestStatus::kOk ? "" : " class=\"wrong\"",
             safe(status));
  }
  page.raw(
      render_bench_svg(bench_plot_of(test), {.in_page = true, .device = "", .simulated = false}));
  add_list(page, answers_of(test));
  std::vector<std::string> remarks;
  if (std::string proofs = proof_sentence(test); !proofs.empty()) {
    remarks.push_back(std::move(proofs));
  }
  CountSentences counts = count_sentences(test.counts);
  for (std::vector<std::string>* some : {&counts.differing, &counts.others}) {
    remarks.insert(remarks.end(), some->begin(), some->end());
  }
  for (const std::string& remark : remarks) {
    page.add("<p class=\"quiet\">{}</p>\n", safe(remark));
  }
  add_bench_table(page, test);
  page.raw("</article>\n");
}

void add_kinds(HtmlPage& page, const BenchRun& run) {
  const std::vector<BenchPlot> overviews = overview_plots(run);
  for (const std::string& kind : kinds_of(run)) {
    // A kind of one table is its own anchor.
    const bool single = std::ranges::find(run.tests, kind, &TestResult::id) != run.tests.end();
    page.add("<section{}>\n<h2>{}</h2>\n<div class=\"tests\">\n",
             single ? "" : fmt::format(" id=\"{}\"", id_of(kind)), safe(kind));
    const auto overview = std::ranges::find(overviews, kind, &BenchPlot::id);
    if (overview != overviews.end()) {
      page.add("<article class=\"test\">\n<h3>{}: all of them, {}</h3>\n{}</article>\n", safe(kind),
               safe(overview->y_unit),
               render_bench_svg(*overview, {.in_page = true, .device = "", .simulated = false}));
    }
    for (const TestResult& test : run.tests) {
      if (kind_of_test(test.id) == kind) {
        add_test(page, test);
      }
    }
    page.raw("</div>\n</section>\n");
  }
}

void add_method(HtmlPage& page, const BenchRun& run) {
  page.raw("<section id=\"method\">\n<h2>How this was measured</h2>\n<dl class=\"method\">\n");
  constexpr std::array<std::pair<std::string_view, std::string_view>, 6> kEntries{{
      {"Figures",
       "Medians of at least five runs, mostly twenty; p5 and p95 beside them. Points are measured "
       "in shuffled order."},
      {"Shaded, bars",
       "From p5 to p95 of the first series. Grey bands are inferred sizes with their interval."},
      {"Result", "What the kernel computed is compared with the CPU. Wrong: failed, not shown."},
      {"ISA",
       "The formula's operations are counted in the driver's code, where it shows any. Not equal: "
       "suspect."},
      {"Rate", "No operation may be faster than what is possible. Faster: suspect."},
      {"sure, likely, a guess",
       "Two readings agree on a size; one tells it; its interval is wider than an octave."},
  }};
  for (const auto& [key, text] : kEntries) {
    page.add("<dt>{}</dt><dd>{}</dd>\n", key, text);
  }
  if (run.device.simulated) {
    page.raw("<dt>Device</dt><dd>SIMULATED: no hardware was measured</dd>\n");
  }
  page.raw("</dl>\n</section>\n");
}

}  // namespace

std::string render_bench_html(const BenchRun& run, const RooflinePlot& roofline,
                              const HtmlOptions& options) {
  HtmlPage page;
  add_head(page, run);
  page.raw("<body>\n<main>\n");
  add_crumb(page, run);
  add_answers(page, run);
  add_wrong(page, run);
  add_device(page, run);
  add_bench_roofline(page, roofline);
  add_kinds(page, run);
  add_method(page, run);
  page.add("</main>\n<footer>Written by gputrace{}{}.</footer>\n</body>\n</html>\n",
           options.version.empty() ? "" : " ", safe(options.version));
  return page.take();
}

}  // namespace gputrace::report
