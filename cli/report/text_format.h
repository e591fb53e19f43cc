// Numbers, times and glyphs of the text report, and the page that its sections write to.
#pragma once

#include <array>
#include <cstddef>
#include <optional>
#include <string>
#include <string_view>

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
/// "2.5 s", "1:30", "1:02:03".
[[nodiscard]] std::string format_duration(double seconds);
/// "1,234,567".
[[nodiscard]] std::string format_count(std::uint64_t count);

/// "EA" for EA_BUSY.
[[nodiscard]] std::string_view short_name(std::string_view field_name);
/// "EA", "SE0.TA": what the text report calls a unit.
[[nodiscard]] std::string unit_label(const Unit& unit);

struct Glyphs {
  std::string_view full;                 ///< bar up to the interval's lower end
  std::string_view maybe;                ///< from there to its upper end
  std::array<std::string_view, 5> ramp;  ///< idle, to 25, to 50, to 75 %, above
};

/// The text under construction. Sections append lines; strings from files pass safe().
class Page {
 public:
  explicit Page(const TextOptions& options);

  [[nodiscard]] std::size_t width() const { return width_; }
  [[nodiscard]] const Glyphs& glyphs() const { return glyphs_; }
  [[nodiscard]] std::string safe(std::string_view text) const;
  [[nodiscard]] std::string paint(Ink ink, std::string_view text) const;

  void line(std::string_view text = {}, Ink ink = Ink::kPlain);
  /// Wrapped at the width; lines after the first are indented.
  void paragraph(std::string_view text, std::size_t indent, Ink ink = Ink::kPlain);
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
void append_band(Page& page, const Report& report);
void append_units(Page& page, const Report& report);
/// With energy, DRAM traffic and throttling.
void append_sensors(Page& page, const Report& report);
/// And frames.
void append_processes(Page& page, const Report& report);

}  // namespace gputrace::report
