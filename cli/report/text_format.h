// Numbers, times and glyphs of the text report, and the page that its sections write to.
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "cli/analysis/statistics.h"
#include "cli/report/render_text.h"
#include "cli/report/report.h"
#include "cli/report/terminal_text.h"

namespace gputrace::report {

/// No more digits than are needed to keep small apart from zero: "0 %", "<0.1 %", "0.4 %", "72 %",
/// "99.6 %", ">99.9 %", "100 %".
[[nodiscard]] std::string format_percent(double fraction);
/// With the digits of its interval: "45.4 %" beside "45.3 - 45.5".
[[nodiscard]] std::string format_percent(double fraction,
                                         const std::optional<analysis::Interval>& interval);
/// "71.5 - 72.5", "44 - 66": in percent, rounded outwards.
[[nodiscard]] std::string format_interval(const analysis::Interval& interval);
/// Below this a place in time is worth tenths of a second.
inline constexpr double kFineClockS = 600;
/// A place in time: "0:41.3" with `fine`, else "0:41"; "1:02:03".
[[nodiscard]] std::string format_clock(double seconds, bool fine);
/// "2.5 s", "1:30", "1:02:03".
[[nodiscard]] std::string format_duration(double seconds);
/// "1,234,567".
[[nodiscard]] std::string format_count(std::uint64_t count);

/// "all_ones 30, reset 2": why samples are unknown.
[[nodiscard]] std::string reasons_text(const Sampling& sampling);

/// "EA" for EA_BUSY.
[[nodiscard]] std::string_view short_name(std::string_view field_name);
/// "EA", "SE0.TA": what the text report calls a unit.
[[nodiscard]] std::string unit_label(const Unit& unit);

/// Of lines that are no bars.
inline constexpr std::size_t kMostTextWidth = 100;

struct Glyphs {
  std::string_view full;                 ///< bar up to the interval's lower end
  std::string_view maybe;                ///< from there to its upper end
  std::array<std::string_view, 5> ramp;  ///< idle, to 25, to 50, to 75 %, above
};

/// The text under construction. Sections append lines; strings from files pass safe().
class Page {
 public:
  explicit Page(const TextOptions& options);

  /// For bars and plots.
  [[nodiscard]] std::size_t width() const { return width_; }
  /// For all else: long lines are hard to read, and columns far apart too.
  [[nodiscard]] std::size_t text_width() const { return std::min(width_, kMostTextWidth); }
  [[nodiscard]] const Glyphs& glyphs() const { return glyphs_; }
  [[nodiscard]] std::string safe(std::string_view text) const;
  /// The same for our own words, whose few characters beyond ASCII have a spelling within it.
  [[nodiscard]] std::string words(std::string_view text) const;
  [[nodiscard]] std::string paint(Ink ink, std::string_view text) const;
  /// `colour` as Painter has it.
  [[nodiscard]] std::string paint(int colour, std::string_view text) const;
  [[nodiscard]] bool ascii() const { return ascii_; }
  /// The class's letter in its colour.
  [[nodiscard]] std::string letter(analysis::Bottleneck bottleneck) const;

  void line(std::string_view text = {}, Ink ink = Ink::kPlain);
  /// Wrapped at the width; lines after the first are indented.
  void paragraph(std::string_view text, std::size_t indent, Ink ink = Ink::kPlain);
  /// Lines made by a renderer of its own.
  void append(std::string_view lines) { text_ += lines; }
  /// "  key       text", wrapped under the text.
  void entry(std::string_view key, std::string_view text);

  [[nodiscard]] std::string take() { return std::move(text_); }

 private:
  Painter painter_;
  bool ascii_;
  std::size_t width_;
  Glyphs glyphs_;
  std::string text_;
};

/// The sections with a file of their own.
void append_answer(Page& page, const Report& report);
void append_band(Page& page, const Report& report);
/// Classes and the longest phases; `evidence`: with what was seen of each class.
void append_phases(Page& page, const Report& report, bool evidence);
void append_units(Page& page, const Report& report);
/// With energy, DRAM traffic and throttling.
void append_sensors(Page& page, const Report& report);
/// And frames.
void append_processes(Page& page, const Report& report);
/// Where the longest phases stand; nothing without ceilings.
void append_roofline(Page& page, const Report& report, const TextOptions& options);
/// Indices into Report::phases of the longest ones, in order of time.
[[nodiscard]] std::vector<std::size_t> longest_phases(const Report& report, std::size_t most);

}  // namespace gputrace::report
