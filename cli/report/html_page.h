// The HTML page under construction, and the sections that write to it.
#pragma once

#include <fmt/format.h>

#include <array>
#include <iterator>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "cli/report/class_style.h"
#include "cli/report/report.h"
#include "cli/report/svg_label.h"
#include "cli/report/wording.h"

namespace gputrace::report {

class HtmlPage {
 public:
  /// Markup: what it names must be escaped already, by safe().
  template <class... Args>
  void add(fmt::format_string<Args...> format, Args&&... args) {
    fmt::format_to(std::back_inserter(out_), format, std::forward<Args>(args)...);
  }
  void raw(std::string_view markup) { out_ += markup; }
  [[nodiscard]] std::string take() { return std::move(out_); }

 private:
  std::string out_;
};

/// For text and for attribute values in double quotes.
[[nodiscard]] inline std::string safe(std::string_view text) {
  return escape_xml(text);
}

/// The same for text only, with `commands` set apart.
[[nodiscard]] std::string prose(std::string_view text);

/// A file of cli/report/assets, or of uPlot; empty for one that this build has not.
[[nodiscard]] std::string_view page_asset(std::string_view name);

/// What the page shows, seconds from the session's start.
struct PageSpan {
  double start_s = 0;
  double end_s = 0;

  [[nodiscard]] double length() const { return end_s - start_s; }
  /// 0 to 100 within the span.
  [[nodiscard]] double percent(double at_s) const {
    return length() > 0 ? 100 * (at_s - start_s) / length() : 0;
  }
};
[[nodiscard]] PageSpan page_span(const Report& report);

/// "26:50", "1:02:03", "0:41"; "0:00.4" where seconds are too coarse.
[[nodiscard]] std::string clock_text(double seconds, bool fine);
/// Whether positions in the span need tenths of a second.
[[nodiscard]] inline bool is_fine(const PageSpan& span) {
  return span.length() < 60;
}

/// html_answer.cpp: crumb, heading, the three lines.
void add_answer(HtmlPage& page, const Report& report, const Answer& answer);

/// html_band.cpp: the classes' colours as CSS variables, their patterns, the bar of time by class
/// with its legend, and the band of phases over time.
[[nodiscard]] std::string class_colours_css();
/// A class as a part of names of CSS classes and of patterns, in which "?" has no place.
[[nodiscard]] char class_key(analysis::Bottleneck bottleneck);
void add_patterns(HtmlPage& page);
void add_class_bar(HtmlPage& page, const Answer& answer);
void add_phase_band(HtmlPage& page, const std::vector<Phase>& phases, const PageSpan& span);
/// One small drawing of a class's mark; empty for classes without position.
[[nodiscard]] std::string mark_path(Mark mark, double radius);

/// html_timeline.cpp: the section and the data that its script reads.
void add_time_line(HtmlPage& page, const Report& report);
void add_time_line_data(HtmlPage& page, const Report& report);

/// html_phases.cpp
void add_roofline(HtmlPage& page, const Report& report);
void add_phases(HtmlPage& page, const Report& report);
void add_warnings(HtmlPage& page, const Report& report);

/// html_tables.cpp: units, sensors, processes; and how all was measured.
void add_tables(HtmlPage& page, const Report& report);
void add_method(HtmlPage& page, const Report& report);

}  // namespace gputrace::report
