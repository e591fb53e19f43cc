#include "cli/report/text_format.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "cli/report/class_style.h"

namespace gputrace::report {
namespace {

constexpr Glyphs kUnicodeGlyphs{"█", "▒", {".", "░", "▒", "▓", "█"}};
constexpr Glyphs kAsciiGlyphs{"#", "-", {".", ":", "-", "+", "#"}};
constexpr std::size_t kKeyWidth = 10;
constexpr std::string_view kSuffix = "_BUSY";

/// Below two points a decimal says something.
bool is_narrow(const analysis::Interval& interval) {
  return interval.upper - interval.lower < 0.02;
}

constexpr std::string_view kNoBreak = "\u00a0";

/// Ties units to their numbers, so that no line begins with "%".
std::string tie_units(std::string_view text) {
  constexpr std::array<std::string_view, 8> kUnits{"%",      "s",      "W",  "GB/s",
                                                   "FLOP/B", "GFLOPS", "Hz", "MHz"};
  std::string tied;
  for (std::size_t i = 0; i < text.size(); ++i) {
    const bool after_digit = i > 0 && text[i - 1] >= '0' && text[i - 1] <= '9';
    const std::size_t end = text.find_first_of(" ,.;:)", i + 1);
    const std::string_view word =
        text.substr(std::min(i + 1, text.size()),
                    end == std::string_view::npos ? end : end - std::min(i + 1, text.size()));
    const bool unit = text[i] == ' ' && after_digit &&
                      std::find(kUnits.begin(), kUnits.end(), word) != kUnits.end();
    if (unit) {
      tied += kNoBreak;
    } else {
      tied += text[i];
    }
  }
  return tied;
}

std::vector<std::string> wrap_tied(std::string_view text, std::size_t width, std::size_t indent) {
  std::vector<std::string> lines = wrap(tie_units(text), width, indent);
  for (std::string& line : lines) {
    for (std::size_t at = line.find(kNoBreak); at != std::string::npos; at = line.find(kNoBreak)) {
      line.replace(at, kNoBreak.size(), " ");
    }
  }
  return lines;
}

}  // namespace

std::string format_percent(double fraction) {
  const double percent = 100 * fraction;
  if (percent <= 0) {
    return "0 %";
  }
  if (percent >= 100) {
    return "100 %";
  }
  if (percent < 0.05) {
    return "<0.1 %";
  }
  if (percent >= 99.95) {
    return ">99.9 %";
  }
  return percent < 0.95 || percent > 99 ? fmt::format("{:.1f} %", percent)
                                        : fmt::format("{:.0f} %", percent);
}

std::string format_percent(double fraction, const std::optional<analysis::Interval>& interval) {
  const double percent = 100 * fraction;
  const bool decimal = interval && is_narrow(*interval) && percent >= 0.05 && percent < 99.95;
  return decimal ? fmt::format("{:.1f} %", percent) : format_percent(fraction);
}

std::string format_interval(const analysis::Interval& interval) {
  const bool fine = is_narrow(interval);
  const double scale = fine ? 1000 : 100;
  // An end that is exact up to rounding error stays where it is.
  const double lower = std::floor(interval.lower * scale + 1e-9) / (fine ? 10 : 1);
  const double upper = std::ceil(interval.upper * scale - 1e-9) / (fine ? 10 : 1);
  return fine ? fmt::format("{:.1f} - {:.1f}", lower, upper)
              : fmt::format("{:.0f} - {:.0f}", lower, upper);
}

std::string format_clock(double seconds, bool fine) {
  if (fine) {
    const auto tenths = static_cast<long long>(std::llround(seconds * 10));
    return fmt::format("{}:{:02}.{}", tenths / 600, tenths / 10 % 60, tenths % 10);
  }
  const auto whole = static_cast<long long>(std::llround(seconds));
  return whole >= 3600 ? fmt::format("{}:{:02}:{:02}", whole / 3600, whole / 60 % 60, whole % 60)
                       : fmt::format("{}:{:02}", whole / 60, whole % 60);
}

std::string format_duration(double seconds) {
  if (seconds < 59.95) {
    return fmt::format("{:.1f} s", seconds);
  }
  const auto whole = static_cast<long long>(std::llround(seconds));
  const long long hours = whole / 3600;
  return hours > 0 ? fmt::format("{}:{:02}:{:02}", hours, whole / 60 % 60, whole % 60)
                   : fmt::format("{}:{:02}", whole / 60, whole % 60);
}

std::string format_count(std::uint64_t count) {
  std::string digits = std::to_string(count);
  for (std::size_t i = digits.size(); i > 3; i -= 3) {
    digits.insert(i - 3, ",");
  }
  return digits;
}

std::string_view short_name(std::string_view field_name) {
  const bool has_suffix = field_name.size() > kSuffix.size() &&
                          field_name.substr(field_name.size() - kSuffix.size()) == kSuffix;
  return has_suffix ? field_name.substr(0, field_name.size() - kSuffix.size()) : field_name;
}

std::string unit_label(const Unit& unit) {
  const std::string_view name = short_name(unit.name);
  return unit.engine ? fmt::format("SE{}.{}", *unit.engine, name) : std::string(name);
}

Page::Page(const TextOptions& options)
    : painter_(options.colour),
      ascii_(options.ascii),
      width_(std::max(options.width, kMinWidth)),
      glyphs_(options.ascii ? kAsciiGlyphs : kUnicodeGlyphs) {}

std::string Page::safe(std::string_view text) const {
  return escape_for_terminal(text, ascii_);
}

std::string Page::words(std::string_view text) const {
  std::string words(text);
  constexpr std::string_view kPlusMinus = "±";
  for (std::size_t at = words.find(kPlusMinus); ascii_ && at != std::string::npos;
       at = words.find(kPlusMinus, at)) {
    words.replace(at, kPlusMinus.size(), "+-");
  }
  return safe(words);
}

std::string Page::paint(Ink ink, std::string_view text) const {
  return painter_.paint(ink, text);
}

std::string Page::paint(int colour, std::string_view text) const {
  return painter_.paint(colour, text);
}

std::string Page::letter(analysis::Bottleneck bottleneck) const {
  const ClassStyle& style = class_style(bottleneck);
  return painter_.paint(style.terminal_colour, std::string_view(&style.text_letter, 1));
}

void Page::line(std::string_view text, Ink ink) {
  text_ += painter_.paint(ink, text);
  text_ += '\n';
}

void Page::paragraph(std::string_view text, std::size_t indent, Ink ink) {
  for (const std::string& piece : wrap_tied(text, text_width(), indent)) {
    line(piece, ink);
  }
}

void Page::entry(std::string_view key, std::string_view text) {
  const std::string indent(kKeyWidth + 3, ' ');
  const std::vector<std::string> lines = wrap_tied(text, text_width() - indent.size(), 0);
  for (std::size_t i = 0; i < lines.size(); ++i) {
    line(i == 0 ? fmt::format("  {:<{}} {}", key, kKeyWidth, lines[i]) : indent + lines[i]);
  }
}

}  // namespace gputrace::report
